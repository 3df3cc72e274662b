"""Child processes of this machine: start, read, wait, end. The only module that starts a tool's process.

Owns sessions, groups, pipes and reaping. Uses no thread and no signal handler: a pipe and a process descriptor wake
the loop. Does not own what is started, nor what output means.
"""

import asyncio
import contextlib
import os
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import anyio

from agent_ls.adapters.host.process_table import Survivors, dead_children, started_at
from agent_ls.adapters.host.system import SystemClock
from agent_ls.ports.host import Clock
from agent_ls.ports.processes import ProcessId

_CHUNK: Final = 1 << 16
# A fast writer must not keep the loop from everything else.
_CHUNKS_A_WAKE: Final = 4
_LOOK_AGAIN: Final = 0.02
_AFTER_KILL: Final = 2.0
_LEFT_DEAD: Final = 10.0


class LocalChild:
    """`gate`: whoever is held reads from its other end."""

    def __init__(
        self, process: subprocess.Popen[bytes], pipe: int, output: Callable[[bytes], None], *, gate: int | None
    ) -> None:
        self._process = process
        self._pipe: int | None = pipe
        self._gate = gate
        self._output = output
        self._loop = asyncio.get_running_loop()
        self._ended = anyio.Event()
        self._drained = anyio.Event()
        self._watch: int | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.id = ProcessId(process.pid, started_at(process.pid) or "")
        os.set_blocking(pipe, False)
        self._loop.add_reader(pipe, self._read)
        self._watch_exit()

    @property
    def exit(self) -> int | None:
        return self._process.returncode

    async def wait(self) -> int:
        await self._ended.wait()
        assert self._process.returncode is not None
        return self._process.returncode

    async def drain(self, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            await self._drained.wait()

    def let_go(self) -> None:
        if self._gate is not None:
            with contextlib.suppress(OSError):  # somebody has ended it meanwhile
                os.write(self._gate, b"\n")
            self._close_gate()

    def close(self) -> None:
        held = self._gate is not None
        self._close_gate()
        self._close_pipe()
        if not held:  # else it ends now, and somebody has to wait for it
            self._close_watch()

    def _read(self) -> None:
        for _ in range(_CHUNKS_A_WAKE):
            if self._pipe is None:
                return
            try:
                data = os.read(self._pipe, _CHUNK)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._close_pipe()
                return
            self._output(data)
            if len(data) < _CHUNK // 2:
                return

    def _close_gate(self) -> None:
        if self._gate is not None:
            os.close(self._gate)
            self._gate = None

    def _close_pipe(self) -> None:
        if self._pipe is not None:
            self._loop.remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = None
        self._drained.set()

    def _watch_exit(self) -> None:
        try:
            self._watch = os.pidfd_open(self._process.pid)
        except (AttributeError, OSError):
            # No such thing on this machine: look every few milliseconds.
            self._poll()
            return
        self._loop.add_reader(self._watch, self._exited)

    def _exited(self) -> None:
        if self._process.poll() is not None:
            self._close_watch()
            self._ended.set()

    def _poll(self) -> None:
        self._timer = None
        self._exited()
        if self._process.returncode is None:
            self._timer = self._loop.call_later(_LOOK_AGAIN, self._poll)

    def _close_watch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._watch is not None:
            self._loop.remove_reader(self._watch)
            os.close(self._watch)
            self._watch = None


class LocalProcesses:
    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        # Of the last calls: what they left running may come back to us as orphans.
        self._sessions: deque[int] = deque(maxlen=1000)
        self._dead: dict[int, float] = {}

    def start(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        environment: Mapping[str, str],
        output: Callable[[bytes], None],
        held: bool = False,
    ) -> LocalChild:
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            reader, writer = os.pipe()
            ours.callback(os.close, reader)
            theirs.callback(os.close, writer)
            stdin, gate = os.pipe() if held else (subprocess.DEVNULL, None)
            if gate is not None:
                ours.callback(os.close, gate)
                theirs.callback(os.close, stdin)
            process = subprocess.Popen(
                argv, cwd=cwd, env=environment, stdin=stdin, stdout=writer, stderr=writer, start_new_session=True
            )
            ours.pop_all()
        # Now, not at the end of the last call: what it left running had no time to end then.
        self._reap_orphans()
        self._sessions.append(process.pid)
        return LocalChild(process, reader, output, gate=gate)

    def started(self, pid: int) -> str | None:
        """When the process with this number began; None if there is none."""
        return started_at(pid)

    async def end(self, process: ProcessId, mark: str, *, grace: float) -> bool:
        survivors = Survivors(process, mark)
        if not survivors.term():
            return False
        if not await self._until(lambda: not survivors.alive(), grace):
            await self._until(lambda: not survivors.kill(), _AFTER_KILL)
        self._reap_orphans()
        return True

    async def _until(self, done: Callable[[], bool], seconds: float) -> bool:
        deadline = self._clock.monotonic() + seconds
        while not done():
            if self._clock.monotonic() >= deadline:
                return False
            await self._clock.sleep(_LOOK_AGAIN)
        return True

    def _reap_orphans(self) -> None:
        """A subreaper has to take the exit codes of its orphans. Whoever started a child of this process waits for it
        and takes it at once: only what was not taken for long, or belongs to a call's session, is an orphan."""
        now = self._clock.monotonic()
        dead = dead_children()
        self._dead = {row.pid: self._dead.get(row.pid, now) for row in dead}
        for row in dead:
            of_a_call = row.session in self._sessions and row.session != row.pid
            if of_a_call or now - self._dead[row.pid] > _LEFT_DEAD:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(row.pid, os.WNOHANG)
