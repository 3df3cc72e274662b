"""Runs the person's hooks: one program a moment, JSON on its stdin, its end is its answer.

Owns the process, its group and its time limit. Which program a word means is settled by the configuration's folder and
the daemon's own PATH, never by a workspace. What an end means is core.hooks'.
"""

import json
import logging
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import IO, Any, Final

import anyio
from anyio import CapacityLimiter, to_thread

from agent_ls.core.hooks import NOTHING, HookAnswer, HookEvent, failed, read

log = logging.getLogger(__name__)

LIMIT_S: Final = 60.0
GRACE_S: Final = 1.0
LARGEST: Final = 256 * 1024
AT_ONCE: Final = 16

Argv = tuple[str, ...]


class CommandHooks:
    """Implements ports.hooks.Hooks. `folder` is that of the configuration: `./check` stands beside it."""

    def __init__(self, commands: Mapping[str, Argv], folder: str, *, limit_s: float = LIMIT_S) -> None:
        self._limit_s = limit_s
        self._limiter: CapacityLimiter | None = None
        self.use(commands, folder)

    def use(self, commands: Mapping[str, Argv], folder: str) -> None:
        """The hooks as they are configured now."""
        self._commands = {HookEvent(name): argv for name, argv in commands.items() if argv}
        self._folder = folder

    def has(self, event: HookEvent) -> bool:
        return event in self._commands

    async def run(
        self, event: HookEvent, payload: Mapping[str, Any], *, cwd: str, environment: Mapping[str, str]
    ) -> HookAnswer:
        command = self._commands.get(event)
        if command is None:
            return NOTHING
        program = located(command[0], self._folder)
        if program is None:
            return failed(event, f"cannot be started: `{command[0]}` is not there")
        if self._limiter is None:
            self._limiter = CapacityLimiter(AT_ONCE)
        running = _Running([program, *command[1:]], cwd, {**environment, "AGENT_LS_HOOK": str(event)})
        work = partial(running.answer, event, json.dumps(payload, ensure_ascii=False), limit_s=self._limit_s)
        try:
            answer = await to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._limiter)
        except anyio.get_cancelled_exc_class():
            running.end()
            raise
        if answer.trouble:
            log.warning("%s", answer.trouble.partition(":")[0])
        return answer


def located(word: str, folder: str) -> str | None:
    """The program that a configured word means, absolute; None where there is none."""
    path = os.path.expanduser(word)
    if "/" in path:
        path = os.path.normpath(os.path.join(folder, path))
        return path if os.access(path, os.X_OK) and not os.path.isdir(path) else None
    return shutil.which(path)


class _Running:
    """Its output goes to files: who leaves a child behind that holds a pipe keeps nobody waiting."""

    def __init__(self, argv: list[str], cwd: str, environment: Mapping[str, str]) -> None:
        self._argv = argv
        self._cwd = cwd
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def answer(self, event: HookEvent, said: str, *, limit_s: float) -> HookAnswer:
        """Blocking, in a thread."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            given.write(said.encode("utf-8", "replace"))
            given.seek(0)
            try:
                self._process = subprocess.Popen(
                    self._argv,
                    cwd=self._cwd if os.path.isdir(self._cwd) else "/",
                    env=dict(self._environment),
                    stdin=given,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                why = error.strerror if isinstance(error, OSError) and error.strerror else "its arguments are unusable"
                return failed(event, f"cannot be started ({why})")
            if self._ended:
                self.end()
            try:
                code = self._process.wait(limit_s)
            except subprocess.TimeoutExpired:
                self._terminate()
                return failed(event, f"did not end within {limit_s:g} s")
            return read(event, code, stdout=_text(out), stderr=_text(err))

    def end(self) -> None:
        """At once, from any thread. The thread that waits takes its exit code."""
        self._ended = True
        if self._process is not None:
            self._signal(signal.SIGKILL)

    def _terminate(self) -> None:
        assert self._process is not None
        self._signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_S)
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        """To its group, which holds what it has started even when it has itself ended."""
        assert self._process is not None
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(LARGEST).decode("utf-8", "replace")
