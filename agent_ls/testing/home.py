"""A daemon of its own for a test: private directories, a configuration, a workspace, and a process that can be killed.

    async with serve_model(scenario) as server, home_of(server.base_url) as home, home.editor() as editor:
        ...

Owns the process and its files, from the first start to the last trace. Does not own links (editor) nor models
(model_server).
"""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, PIPE, CompletedProcess
from typing import Any, Final

import anyio
from anyio import to_thread
from anyio.abc import Process
from anyio.streams.stapled import StapledByteStream

from agent_ls import paths
from agent_ls.bridge.start import alive
from agent_ls.testing.editor import LIMIT_S, Editor

PROVIDER: Final = """\
provider = "scripted"

[providers.scripted]
kind = "{kind}"
base_url = "{base_url}"
model = "scripted-1"
"""
# Where the system says which processes there are.
PROC: Final = os.path.isdir("/proc/self")


@dataclass
class Home:
    """`env` is that of every process started here. `workspace` is an empty folder to work in."""

    root: Path
    env: dict[str, str]
    gates: list[Path] = field(default_factory=list)

    @property
    def workspace(self) -> Path:
        return self.root / "w"

    @property
    def state(self) -> Path:
        return self.root / "state"

    @property
    def config(self) -> Path:
        return self.root / "config.toml"

    def folder(self, name: str) -> Path:
        """Another workspace."""
        made = self.root / name
        made.mkdir()
        return made

    def gate(self, name: str, folder: Path | None = None) -> Path:
        """A FIFO at which a command waits (`cat gate`) until `open_gate`."""
        path = (folder or self.workspace) / name
        os.mkfifo(path)
        self.gates.append(path)
        return path

    async def open_gate(self, path: Path, word: str = "open\n") -> None:
        """Returns once a command stood before the gate and was let through."""
        with anyio.fail_after(LIMIT_S):
            await to_thread.run_sync(path.write_text, word, abandon_on_cancel=True)

    @property
    def pid(self) -> int | None:
        """The daemon that holds this state directory, if it lives."""
        holder = paths.read_holder(self.env)
        return holder.pid if holder is not None and alive(holder.pid) else None

    @property
    def log(self) -> str:
        path = Path(paths.log_path(self.env))
        return path.read_text(encoding="utf-8") if path.exists() else ""

    async def start(self) -> int:
        """Starts the daemon if there is none; its pid."""
        done = await self.run("start")
        assert done.returncode == 0, done.stderr
        pid = self.pid
        assert pid is not None
        return pid

    async def kill9(self) -> None:
        """Kill -9 of the daemon, until the kernel says that it is gone."""
        pid = self.pid
        assert pid is not None, "there is no daemon to kill"
        await kill9(pid)

    @asynccontextmanager
    async def editor(self, *folders: Path, name: str = "editor", **ours: Any) -> AsyncIterator[Editor]:
        """A window straight on the socket; the daemon is started if there is none."""
        if self.pid is None or not os.path.exists(paths.socket_path(self.env)):
            await self.start()
        async with await anyio.connect_unix(paths.socket_path(self.env)) as stream:
            editor = Editor(stream, name=name)
            await editor.initialize(*folders, **ours)
            yield editor

    @asynccontextmanager
    async def bridged(self, *folders: Path, name: str = "bridged", **ours: Any) -> AsyncIterator[Editor]:
        """A window as editors have it: `agent-ls connect` is its server, and starts the daemon if there is none."""
        async with self.process("connect", stdin=PIPE, stdout=PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            editor = Editor(StapledByteStream(process.stdin, process.stdout), name=name, process=process)
            await editor.initialize(*folders, **ours)
            yield editor

    @asynccontextmanager
    async def process(self, *arguments: str, cwd: Path | None = None, **pipes: Any) -> AsyncIterator[Process]:
        """`agent-ls …` as a process, killed at the end of the block if it still runs."""
        pipes = {"stdin": DEVNULL, "stderr": None, **pipes}
        process = await anyio.open_process(
            [sys.executable, "-m", "agent_ls", *arguments], env=self.env, cwd=cwd or self.workspace, **pipes
        )
        try:
            yield process
        finally:
            with anyio.CancelScope(shield=True):
                if process.returncode is None:
                    process.kill()
                await process.aclose()

    async def run(self, *arguments: str, cwd: Path | None = None) -> CompletedProcess[str]:
        """`agent-ls …` to its end."""
        command: Sequence[str] = [sys.executable, "-m", "agent_ls", *arguments]
        with anyio.fail_after(LIMIT_S):
            done = await anyio.run_process(command, env=self.env, cwd=cwd or self.workspace, stdin=DEVNULL, check=False)
        return CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    async def close(self) -> None:
        """Ends the daemon and whatever its shells have left, and removes every file."""
        for last in (signal.SIGTERM, signal.SIGKILL, signal.SIGKILL):
            # More than one, when it ends in the middle of a hand-over: whoever waits its turn gets it then.
            if not (daemons := self._daemons()):
                break
            for pid in daemons:
                with suppress(ProcessLookupError):
                    os.kill(pid, last)
            with anyio.move_on_after(5):
                for pid in daemons:
                    await gone(pid)
        for path in self.gates:
            _let_through(path)
        shutil.rmtree(self.root, ignore_errors=True)

    def _daemons(self) -> list[int]:
        """The one that holds the state directory, and those that do not yet or no longer hold it."""
        ours = f"AGENT_LS_STATE_DIR={self.state}".encode()
        found = (
            {int(name) for name in os.listdir("/proc") if name.isdigit() and _is_daemon(name, ours)} if PROC else set()
        )
        pid = self.pid  # read once: a daemon that ends meanwhile takes its file along
        return sorted(found | ({pid} if pid is not None else set()))


@asynccontextmanager
async def home_of(
    base_url: str = "", *, kind: str = "openai-compatible", config: str = "", env: Mapping[str, str] | None = None
) -> AsyncIterator[Home]:
    """A home whose provider is the server at `base_url`; `config` goes below it. No daemon runs yet."""
    # A short name: the path of a Unix socket ends at about 100 bytes.
    root = Path(tempfile.mkdtemp(prefix="als-", dir="/tmp"))
    (root / "w").mkdir()
    home = Home(root, _environment(root, env or {}))
    provider = PROVIDER.format(base_url=base_url, kind=kind) if base_url else ""
    home.config.write_text(provider + config, encoding="utf-8")
    try:
        yield home
    finally:
        with anyio.CancelScope(shield=True):
            await home.close()


async def kill9(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    await gone(pid)


async def gone(pid: int) -> None:
    """Until a process that is not our child has ended."""
    try:
        watch = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        await anyio.wait_readable(watch)
    finally:
        os.close(watch)


def _environment(root: Path, more: Mapping[str, str]) -> dict[str, str]:
    """Nothing of the person's own: no keys, no start-up files, no other daemon."""
    passed = {name: value for name in ("PATH", "PYTHONPATH", "LANG", "LC_ALL") if (value := os.environ.get(name))}
    home = root / "home"
    home.mkdir()
    return {
        **passed,
        "HOME": os.fspath(home),
        "AGENT_LS_STATE_DIR": os.fspath(root / "state"),
        "AGENT_LS_RUNTIME_DIR": os.fspath(root / "run"),
        "AGENT_LS_CONFIG": os.fspath(root / "config.toml"),
        "AGENT_LS_NOTICES": "off",
        **more,
    }


def _is_daemon(pid: str, ours: bytes) -> bool:
    try:
        arguments = Path("/proc", pid, "cmdline").read_bytes().split(b"\0")
        return b"agent_ls" in arguments and b"daemon" in arguments and ours in _variables(pid)
    except OSError:
        return False  # it has ended, or is not ours to look at


def _variables(pid: str) -> list[bytes]:
    return Path("/proc", pid, "environ").read_bytes().split(b"\0")


def _let_through(path: Path) -> None:
    """Whatever still waits at the gate reads its end."""
    with suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))
