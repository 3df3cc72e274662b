"""The terminal while the chat holds it: its modes, its size, its bytes, the signals that concern it.

Owns that the terminal is given back as it was, however the chat ends. Does not own what keys mean nor what is drawn.
"""

import os
import select
import signal
import sys
import termios
from types import FrameType
from typing import Any, Final, NoReturn, Self

READ: Final = 65536
ON: Final = "\x1b[?2004h"
OFF: Final = "\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[0m"
_LEAVING: Final = (signal.SIGTERM, signal.SIGHUP)


class Hangup(Exception):
    """The terminal has gone."""


class Terminal:
    """A context manager: keys come one by one and unseen while it is entered."""

    def __init__(self) -> None:
        self.resized = False
        self._in = sys.stdin.fileno()
        self._out = sys.stdout.fileno()
        self._before: list[Any] = []
        self._handlers: dict[int, Any] = {}
        self._wakeup = -1
        self._woken, self._wake = -1, -1

    def __enter__(self) -> Self:
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._wake, False)
        self._wakeup = signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        self._handlers[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, self._on_resize)
        for number in _LEAVING:
            self._handlers[number] = signal.signal(number, _leave)
        self._before = termios.tcgetattr(self._in)
        try:
            self._raw()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._woken)
        os.close(self._wake)

    def size(self) -> tuple[int, int]:
        """(columns, rows)."""
        try:
            size = os.get_terminal_size(self._out)
        except OSError:
            return 80, 24
        return max(size.columns, 20), max(size.lines, 4)

    def wait(self, link: int | None, seconds: float | None) -> tuple[bool, bool]:
        """Until (keys, link) have something to read, a signal came, or the time is over."""
        watched = [self._in, self._woken, *([] if link is None else [link])]
        ready, _, _ = select.select(watched, [], [], seconds)
        if self._woken in ready:
            os.read(self._woken, READ)
        return self._in in ready, link in ready

    def read(self) -> bytes:
        try:
            data = os.read(self._in, READ)
        except OSError:
            raise Hangup from None
        if not data:
            raise Hangup
        return data

    def write(self, text: str) -> None:
        data = memoryview(text.encode("utf-8", "replace"))
        while data:
            try:
                data = data[os.write(self._out, data) :]
            except BlockingIOError:
                select.select([], [self._out], [])
            except OSError:
                raise Hangup from None

    def suspend(self) -> None:
        """Ctrl-Z: gives the terminal back until the shell brings us to the front again."""
        self._restore()
        os.kill(0, signal.SIGTSTP)
        self._raw()
        self.resized = True

    def _raw(self) -> None:
        """Control keys come as keys; lines on the way out still end with carriage return and line feed."""
        mode = termios.tcgetattr(self._in)
        mode[0] &= ~(termios.ICRNL | termios.INLCR | termios.IXON | termios.ISTRIP)
        mode[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
        mode[6] = [*mode[6]]
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._in, termios.TCSADRAIN, mode)
        self.write(ON)

    def _restore(self) -> None:
        if not self._before:
            return
        try:
            self.write(OFF)
            termios.tcsetattr(self._in, termios.TCSADRAIN, self._before)
        except (Hangup, termios.error):
            return

    def _on_resize(self, _signal: int, _frame: FrameType | None) -> None:
        self.resized = True


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
