"""`agent-ls chat` as a person has it: the real thing on a pty, a real daemon, a scripted model."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.abc import Process

from agent_ls.testing.home import Home, home_of
from agent_ls.testing.model_scenario import (
    Answer,
    Gate,
    RequestView,
    Say,
    Silence,
    UseTool,
    Wait,
    reply,
    say,
    use,
)
from agent_ls.testing.model_server import serve_model
from tests.terminal import Screen

pytestmark = pytest.mark.anyio
COLUMNS, ROWS, LIMIT_S = 80, 40, 15.0
TYPED = "now it is my turn"


class Terminal:
    """The person's side of the pty."""

    def __init__(self, master: int, slave: int, process: Process) -> None:
        self.screen = Screen(COLUMNS, ROWS)
        self.process = process
        self._master, self._slave = master, slave

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    async def until(self, seen: str | Callable[[str], bool], within: float = LIMIT_S) -> str:
        """Until the text stands on the terminal, or the condition holds for all that does."""
        holds = (lambda text: seen in text) if isinstance(seen, str) else seen
        try:
            with anyio.fail_after(within):
                while not holds(self.screen.text):
                    await self._read()
        except TimeoutError:
            raise AssertionError(f"{seen!r} is not on the terminal:\n{self.screen.text}") from None
        return self.screen.text

    async def answer(self, key: str, seen: str) -> None:
        """A key that answers. One that comes within 400 ms of its card is text: it is taken back and pressed again."""
        for _ in range(5):
            self.type(key)
            try:
                await self.until(seen, within=1.5)
            except AssertionError:
                self.type("\x15")
            else:
                return
        raise AssertionError(f"{key!r} did not lead to {seen!r}:\n{self.screen.text}")

    async def ended(self) -> int:
        with anyio.fail_after(LIMIT_S):
            return await self.process.wait()

    async def rest(self) -> None:
        """What was written before the end."""
        os.set_blocking(self._master, False)
        try:
            while data := os.read(self._master, 65536):
                self.screen.feed(data.decode())
        except BlockingIOError:
            return

    def modes(self) -> list[Any]:
        return termios.tcgetattr(self._slave)

    async def _read(self) -> None:
        await anyio.wait_readable(self._master)
        self.screen.feed(os.read(self._master, 65536).decode("utf-8", "replace"))

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)


@asynccontextmanager
async def chat(home: Home, *arguments: str) -> AsyncIterator[Terminal]:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    try:
        async with home.process("chat", *arguments, stdin=slave, stdout=slave, stderr=slave) as process:
            yield Terminal(master, slave, process)
    finally:
        os.close(master)
        os.close(slave)


class Model:
    """Mends hello.py, then runs it; counts without end when it is told to; else says what it heard."""

    def __init__(self) -> None:
        self.gate = Gate()
        self.heard: list[str] = []

    def __call__(self, request: RequestView) -> Answer:
        self.heard += [text for _, text in request.results[-1:]]
        if "mend" in request.last_user_text:
            return self._mend(len(request.results))
        if "count" in request.last_user_text:
            return reply(Say("one\n\ntwo"), Silence())
        return say(f"You said {request.last_user_text}.")

    def _mend(self, results: int) -> Answer:
        match results:
            case 0:
                return reply(Say("First I look."), Wait(self.gate), UseTool("read", {"path": "hello.py"}))
            case 1:
                return use("edit", path="hello.py", edits=[{"old": "helo", "new": "hello"}])
            case 2:
                return use("shell", command="python3 hello.py")
            case _:
                return say("Then I stop here.")


async def test_a_conversation_with_edit_denial_kill_and_stop() -> None:
    model = Model()
    async with serve_model(model) as server, home_of(server.base_url, env={"TERM": "xterm"}) as home:
        (home.workspace / "hello.py").write_text("print('helo')\n")
        async with chat(home) as terminal:
            before = terminal.modes()
            await terminal.until("›")
            assert terminal.modes() != before

            terminal.type("mend it\r")
            await terminal.until("First I look.")
            assert "read hello.py" not in terminal.screen.text
            model.gate.open()

            await terminal.until("▲ #1")
            for sign in TYPED:
                terminal.type(sign)
            text = await terminal.until(f"› {TYPED}")
            assert ("-print('helo')" in text, "+print('hello')" in text, "▲ #1  waits" in text) == (True, True, True)
            assert (home.workspace / "hello.py").read_text() == "print('helo')\n"
            terminal.type("\x15")
            await terminal.until(lambda text: f"› {TYPED}" not in text)
            await terminal.answer("y", "▲ #2")
            assert (home.workspace / "hello.py").read_text() == "print('hello')\n"

            terminal.type("/deny not while I sleep\r")
            await terminal.until("Then I stop here.")
            assert model.heard[-1] == "denied: not while I sleep"

            await home.kill9()
            terminal.type("are you there\r")
            await terminal.until("You said are you there.")
            await terminal.until("the daemon went away and is back")

            terminal.type("count\r")
            await terminal.until("two")
            terminal.type("and after it\r")
            await terminal.until("↪ and after it")
            terminal.type("\x03")
            await terminal.until("■ Stopped by")
            terminal.type("/queue go\r")
            await terminal.until("You said and after it.")

            terminal.type("\x04")
            assert await terminal.ended() == 0
            await terminal.rest()
            assert "agent-ls chat --conversation" in terminal.screen.lines[-1]
            assert (terminal.modes(), terminal.screen.modes) == (before, {"7", "25"})


async def test_a_daemon_that_was_stopped_is_started_again_by_what_is_said_and_not_before() -> None:
    model = Model()
    model.gate.open()
    async with (
        serve_model(model) as server,
        home_of(server.base_url, env={"TERM": "xterm"}) as home,
        chat(home) as terminal,
    ):
        await terminal.until("›")
        assert (await home.run("stop")).returncode == 0
        await terminal.until("the daemon was stopped; what you say starts it")
        assert home.pid is None
        terminal.type("are you there\r")
        await terminal.until("You said are you there.")
        assert home.pid is not None


async def test_whoever_follows_a_conversation_does_not_start_a_stopped_daemon_again() -> None:
    model = Model()
    async with serve_model(model) as server, home_of(server.base_url) as home:
        async with home.process("ask", "--wait", "count", stdout=subprocess.PIPE) as asked:
            assert asked.stdout is not None
            with anyio.fail_after(LIMIT_S):
                assert (await asked.stdout.receive()).startswith(b"one")
                assert (await home.run("stop", "--deadline", "0")).returncode == 0
                assert await asked.wait() == 1
        assert home.pid is None


async def merged(terminal: Terminal) -> None:
    done, refused = "What came of this fork goes with the next message there.", "The fork is at work."
    for tries in range(1, 20):
        terminal.type("/merge\r")
        text = await terminal.until(lambda text, tries=tries: done in text or text.count(refused) == tries)
        if done in text:
            return
    raise AssertionError(terminal.screen.text)


async def test_a_fork_goes_on_from_here_and_its_parent_is_told_what_came_of_it() -> None:
    async with (
        serve_model(Model()) as server,
        home_of(server.base_url, env={"TERM": "xterm"}) as home,
        chat(home) as terminal,
    ):
        await terminal.until("›")
        terminal.type("/merge\r")
        await terminal.until("This conversation is no fork of another one.")
        terminal.type("the first\r")
        await terminal.until("You said the first.")
        terminal.type("/fork Another way\r")
        await terminal.until("A fork of “the first”, which stays as it is.")
        terminal.type("the second\r")
        await terminal.until("You said the second.")
        assert server.requests[-1].user_texts == ("the first", "the second")
        # The last word of an answer is seen before its run is over, and until then a merge is refused.
        await merged(terminal)
        terminal.type("/conversations\r")
        await terminal.until("fork of the first")
        terminal.type("/attach 1\r")
        await terminal.until("↩ What came of the fork “Another way” of this conversation:")


async def test_what_another_window_decides_appears_here() -> None:
    model = Model()
    model.gate.open()
    async with serve_model(model) as server, home_of(server.base_url, env={"TERM": "xterm"}) as home:
        (home.workspace / "hello.py").write_text("print('helo')\n")
        async with chat(home) as terminal, home.editor(home.workspace, name="Neovim") as window:
            await terminal.until("›")
            terminal.type("mend it\r")
            await terminal.until("▲ #1")
            [request] = await window.pending()
            await window.respond(request, "allow")
            await terminal.until("in Neovim")
            assert [line for line in terminal.screen.lines if line.startswith("#1 allowed by")] != []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_the_terminal_is_given_back_when_the_chat_is_ended(number: signal.Signals) -> None:
    async with serve_model(Model()) as server, home_of(server.base_url, env={"TERM": "xterm"}) as home:
        async with chat(home) as terminal:
            before = terminal.modes()
            await terminal.until("›")
            terminal.resize(50)
            terminal.type("half a line")
            await terminal.until("› half a line")
            terminal.process.send_signal(number)
            assert await terminal.ended() == 128 + number
            await terminal.rest()
            assert (terminal.modes(), terminal.screen.modes) == (before, {"7", "25"})
        assert home.state.joinpath("chat-history").exists() is False


async def test_lines_from_a_pipe_are_messages_and_an_open_request_is_exit_code_2() -> None:
    model = Model()
    model.gate.open()
    async with serve_model(model) as server, home_of(server.base_url) as home:
        (home.workspace / "hello.py").write_text("print('helo')\n")
        done = await piped(home, "hi\nmend it\n/allow\n/deny no\n")
        assert (done, model.heard[-1]) == ((0, "You said hi.\nFirst I look.\nThen I stop here.\n"), "denied: no")
        (home.workspace / "hello.py").write_text("print('helo')\n")
        assert (await piped(home, "mend it\n"))[0] == 2


async def piped(home: Home, text: str) -> tuple[int, str]:
    read, write = os.pipe()
    os.write(write, text.encode())
    os.close(write)
    try:
        async with home.process("chat", stdin=read, stdout=-1, stderr=-1) as process:
            assert process.stdout is not None
            out = b"".join([part async for part in process.stdout])
            with anyio.fail_after(LIMIT_S):
                return await process.wait(), out.decode()
    finally:
        os.close(read)
