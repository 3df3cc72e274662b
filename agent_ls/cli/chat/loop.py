"""The chat on a terminal: waits for keys and for the daemon, and draws what came of it.

Owns what keys mean to the conversation, when it is drawn, and the wait for a daemon that went away. Does not own what
is drawn (view.py) nor what the conversation is (talk.py).
"""

import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from agent_ls.cli.chat import history
from agent_ls.cli.chat.editor import Editor
from agent_ls.cli.chat.keys import TEXT, Decoder, Key
from agent_ls.cli.chat.screen import Screen
from agent_ls.cli.chat.talk import Leave, Talk
from agent_ls.cli.chat.tty import Terminal
from agent_ls.cli.chat.view import Moment, live
from agent_ls.cli.client import ClientError

if TYPE_CHECKING:
    from agent_ls.cli.chat.commands import Commands

Json = dict[str, Any]
_BEAT_S: Final = 0.15
_ESCAPE_S: Final = 0.05
_RETRY_S: Final = 2.0
_LEAVE_S: Final = 3.0


class Loop:
    """`run` returns when the person leaves. `pause` fills the wait for a daemon that starts: keys are not lost."""

    def __init__(self, terminal: Terminal, talk: Talk, *, allow_auto: bool) -> None:
        self._terminal = terminal
        self._talk = talk
        self._allow_auto = allow_auto
        self._editor = Editor(history.load())
        self._decoder = Decoder()
        self._screen = Screen(*terminal.size())
        self._choices: tuple[str, ...] = ()
        self._leaving = 0.0
        self._retry_at = 0.0
        self._lost_at: float | None = None
        self._told_why = False
        self._rests = False

    def run(self) -> None:
        self._draw()
        try:
            while True:
                self._step(None)
                self._keep_link()
        except Leave:
            return
        finally:
            self._terminal.write(self._screen.clear())

    def pause(self, seconds: float) -> None:
        self._step(seconds)

    def _step(self, most: float | None) -> None:
        """Waits for whatever comes first, and takes it."""
        link = self._talk.link.client
        keys, told = self._terminal.wait(link.fileno() if link else None, self._patience(most))
        if self._terminal.resized:
            self._resize()
        if keys:
            for key in self._decoder.feed(self._terminal.read()):
                self._press(key)
        else:
            for key in self._decoder.flush():
                self._press(key)
        if told or self._talk.link.has_arrived:
            self._read()
        if self._talk.asking.due(time.monotonic()) == 0.0:
            self._mean()
        self._draw()

    def _patience(self, most: float | None) -> float | None:
        now = time.monotonic()
        waits = [
            most,
            0.0 if self._talk.link.has_arrived else None,
            self._talk.asking.due(now),
            _ESCAPE_S if self._decoder.unfinished else None,
            _BEAT_S if self._moving else None,
            max(0.0, self._retry_at - now) if self._lost_at is not None else None,
            max(0.0, self._leaving - now) if self._leaving > now else None,
        ]
        return min((wait for wait in waits if wait is not None), default=None)

    @cached_property
    def _commands(self) -> "Commands":
        # Loaded when the first one is said: the prompt is there sooner.
        from agent_ls.cli.chat.commands import Commands

        return Commands(self._talk, allow_auto=self._allow_auto)

    @property
    def _moving(self) -> bool:
        waits = self._lost_at is not None and not self._rests
        return waits or (self._talk.run_id is not None and self._talk.asking.current is None)

    def _read(self) -> None:
        try:
            self._talk.link.read()
        except ClientError as error:
            if error.code not in {"connection_lost", "timeout", "protocol"}:
                raise
            self._talk.link.close()
            self._lost_at, self._retry_at, self._told_why = time.monotonic(), 0.0, False

    def _keep_link(self) -> None:
        """Where the daemon went away: the next one, started by us or by whoever was first.

        One that was stopped on purpose is started again by what the person says, not by us.
        """
        if self._lost_at is None:
            return
        woken = self._rests and not self._talk.link.rests
        if time.monotonic() < self._retry_at and not woken:
            return
        self._rests = self._talk.link.rests
        try:
            self._talk.link.open()
        except ClientError as error:
            self._talk.link.close()
            if error.code == "not_found":
                self._talk.trouble(error)
                raise Leave from None
            if not self._told_why and not self._rests:
                self._talk.trouble(error)
            self._told_why, self._retry_at = not self._rests, time.monotonic() + _RETRY_S
            return
        gone = time.monotonic() - self._lost_at
        self._lost_at, self._rests = None, False
        self._talk.transcript.note(f"⋯ the daemon went away and is back after {gone:.1f} s; nothing is lost")
        self._draw()

    def _press(self, key: Key) -> None:
        self._choices = () if key.name != "tab" else self._choices
        if self._answers(key):
            return
        if key.name != "ctrl-c":
            self._leaving = 0.0
        match key.name:
            case "enter":
                self._enter()
            case "ctrl-c":
                self._interrupt()
            case "ctrl-d" if not self._editor.text:
                raise Leave
            case "ctrl-d":
                self._editor.delete()
            case "ctrl-l":
                self._terminal.write("\x1b[H\x1b[2J")
                self._screen.forget()
            case "ctrl-z":
                self._terminal.write(self._screen.clear())
                self._terminal.suspend()
                self._resize()
            case "tab":
                self._complete()
            case _:
                self._editor.key(key)

    def _answers(self, key: Key) -> bool:
        """A single key on an empty line may answer; what follows it soon makes it text again."""
        asking = self._talk.asking
        if asking.held:
            if key.name == "enter":
                self._mean()
                return True
            asking.let_go()
        elif key.name == TEXT and not self._editor.text and asking.press(key.text, time.monotonic()):
            self._editor.insert(key.text)
            return True
        return False

    def _mean(self) -> None:
        meant = self._talk.asking.confirm()
        if meant is None:
            return
        self._editor.clear()
        if meant.how == "deny":
            self._talk.decide(meant.request, "deny")
        else:
            scope = "conversation" if meant.how == "conversation" else "once"
            self._talk.decide(meant.request, "allow", scope=scope)

    def _enter(self) -> None:
        if not self._editor.text.strip() or self._editor.goes_on():
            return
        text = self._editor.take()
        history.add(text)
        if not (text.lstrip().startswith("/") and self._commands.run(text)):
            self._talk.say(text[1:] if text.startswith("//") else text)

    def _interrupt(self) -> None:
        """The first one stops the run, or empties the line; the second one leaves."""
        now = time.monotonic()
        if self._talk.stopping or now < self._leaving:
            raise Leave
        if self._talk.stop():
            return
        self._editor.clear()
        self._leaving = now + _LEAVE_S

    def _complete(self) -> None:
        from agent_ls.cli.chat import complete
        from agent_ls.cli.chat.commands import WORDS

        workspace = self._talk.workspace
        line = self._editor.text[: self._editor.at]
        done = complete.complete(line, WORDS, lambda begin: complete.files(begin, workspace))
        if done is None:
            self._choices = ()
            return
        self._editor.replace(done.start, done.text)
        self._choices = done.choices

    def _resize(self) -> None:
        self._terminal.resized = False
        self._screen.resized(*self._terminal.size())
        self._talk.transcript.columns = self._screen.columns - 1

    def _draw(self) -> None:
        if request := self._talk.asking.to_show():
            self._talk.show_card(request)
        now = time.monotonic()
        moment = Moment(
            beat=int(now / _BEAT_S),
            seconds=int(now - self._talk.run_since),
            online=self._talk.link.client is not None,
            resting=self._rests and self._lost_at is not None,
            leaving=now < self._leaving,
            choices=self._choices,
        )
        shown = live(self._talk, self._editor, moment, columns=self._screen.columns, height=self._screen.height)
        text = self._screen.draw(self._talk.transcript.take(), shown)
        if text:
            self._terminal.write(text)
