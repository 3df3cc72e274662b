"""A shell tool over real processes with a workspace of its own, for the tests beside it.

Owns the context that a call gets and what it put out. Holds no tests.
"""

import ctypes
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio

from agent_ls.adapters.host.processes import LocalProcesses
from agent_ls.adapters.tools.shell import ShellTool
from agent_ls.adapters.tools.shell_background import BackgroundShells
from agent_ls.core.items import ToolResult
from agent_ls.ports.processes import MARKER
from agent_ls.ports.tools import Prepared, ToolContext


@dataclass
class Bench:
    root: Path
    spool: Path
    processes: LocalProcesses = field(default_factory=LocalProcesses)
    said: list[str] = field(default_factory=list)
    blobs: dict[str, bytes] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": os.environ["PATH"], "HOME": "/nonexistent"})
    calls: int = 0
    cwd: str | None = None
    item_id: str = ""
    on_emit: Callable[[str], None] = lambda text: None
    ahead: bool = False
    """Whether calls are got ready before they are run."""

    def __post_init__(self) -> None:
        self.root = self.root.resolve()
        self.background = BackgroundShells(self.processes)
        self.tool = ShellTool(self.processes, self.background)

    @property
    def emitted(self) -> str:
        return "".join(self.said)

    def context(self) -> ToolContext:
        return ToolContext(
            conversation_id="c",
            item_id=self.item_id,
            root=str(self.root),
            cwd=self.cwd or str(self.root),
            environment=self.environment,
            seen={},
            spool=str(self.spool),
            emit=self._emit,
            keep=self._keep,
        )

    async def prepare(self, command: object, **more: Any) -> Prepared:
        prepared = await self.tool.prepare({"command": command, **more}, self.context())
        assert isinstance(prepared, Prepared)
        return prepared

    async def call(self, command: str, **more: Any) -> ToolResult:
        """As the batch does it: prepare, run, keep the folder, forget the copy."""
        self.calls += 1
        self.item_id = f"{self.spool.name}.i{self.calls}"
        self.said.clear()
        with anyio.fail_after(30):
            prepared = await self.prepare(command, **more)
            if self.ahead:
                self.tool.ready(prepared, self.context())
            result = await self.tool.run(prepared, self.context())
        if result.data:
            self.cwd = result.data["cwd"]
        self.tool.forget(self.item_id, str(self.spool))
        return result

    @asynccontextmanager
    async def running(self, command: str, **more: Any) -> AsyncIterator[anyio.CancelScope]:
        """The command runs and has said something; leaving waits for its end."""
        begun = anyio.Event()
        self.on_emit = lambda text: begun.set()
        scope = anyio.CancelScope()

        async def run() -> None:
            with scope:
                await self.call(command, **more)

        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(run)
                await begun.wait()
                yield scope

    def _emit(self, text: str) -> None:
        self.said.append(text)
        self.on_emit(text)

    async def _keep(self, data: bytes) -> str:
        digest = sha256(data).hexdigest()
        self.blobs[digest] = data
        return digest


def plain(result: ToolResult) -> ToolResult:
    """Without what the next call needs: what a person and the model see."""
    return replace(result, data=None)


def start_child(argv: list[str], *, mark: str) -> "subprocess.Popen[bytes]":
    """As an earlier daemon would have: in a session of its own."""
    environment = {"PATH": os.environ["PATH"], MARKER: mark}
    return subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True, env=environment)


def is_running(pid: int) -> bool:
    """A zombie whose parent is slow to look does not run."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def end(pid: int) -> None:
    if is_running(pid):
        os.kill(pid, signal.SIGKILL)


def dead_children() -> list[int]:
    """Children of this process that nobody has waited for."""
    children = [pid for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()]
    return [int(pid) for pid in children if not is_running(int(pid))]


@contextmanager
def subreaper() -> Iterator[None]:
    """As the daemon is: orphans of its descendants become children of this process."""
    prctl = ctypes.CDLL(None).prctl
    prctl(36, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(36, 0, 0, 0, 0)
