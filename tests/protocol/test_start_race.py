"""One daemon for one state directory, however many start it at once and whatever lies in the way."""

import os
import select
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import anyio
import pytest
from anyio.abc import ByteStream

from agent_ls import paths
from agent_ls.adapters.host.system import SystemClock
from agent_ls.bridge.start import NoDaemon, alive, connect, ensure_daemon
from agent_ls.daemon.listener import AlreadyRunning, CannotListen, bind
from tests.protocol import stand_in

CLIENT = """
import os, sys
from agent_ls.bridge.start import ensure_daemon
env = {**os.environ, "PYTHONPATH": sys.argv[1]}
print(ensure_daemon(env).makefile().readline(), end="")
"""


@pytest.fixture
def env(state_dir: Path, runtime_dir: Path) -> dict[str, str]:
    ours = {"AGENT_LS_STATE_DIR": os.fspath(state_dir), "AGENT_LS_RUNTIME_DIR": os.fspath(runtime_dir)}
    return {"PATH": os.environ["PATH"], "HOME": os.fspath(state_dir), **ours}


@pytest.fixture
def startable(env: dict[str, str], tmp_path: Path) -> Iterator[dict[str, str]]:
    """An environment whose daemon is the stand-in, ended afterwards."""
    made = {**env, **stand_in.make(tmp_path / "stand-in")}
    yield made
    for pid in pids(env):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def pids(env: dict[str, str]) -> list[int]:
    """The daemons that have ever taken this state directory."""
    started = Path(env["AGENT_LS_STATE_DIR"], "started")
    return [int(line) for line in started.read_text().split()] if started.exists() else []


def greeting(link: socket.socket) -> str:
    with link, link.makefile() as lines:
        return lines.readline()


def kill(pid: int) -> None:
    """Kill -9, and wait until it is over."""
    watch = os.pidfd_open(pid)
    os.kill(pid, signal.SIGKILL)
    assert select.select([watch], [], [], 10)[0]
    os.close(watch)


def dead_pid() -> int:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    return gone.pid


def lay_nothing(env: dict[str, str]) -> None:
    pass


def lay_stale_socket(env: dict[str, str]) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(paths.socket_path(env))


def lay_dead_pid(env: dict[str, str]) -> None:
    lay_stale_socket(env)
    Path(paths.lock_path(env)).write_bytes(paths.holder_line(dead_pid(), paths.socket_path(env)))


def lay_foreign_file(env: dict[str, str]) -> None:
    Path(paths.socket_path(env)).write_text("not yours")


@pytest.mark.parametrize("lay", [lay_nothing, lay_stale_socket, lay_dead_pid, lay_foreign_file])
def test_20_starts_at_once_make_one_daemon_and_20_links(startable: dict[str, str], lay: object) -> None:
    assert callable(lay)
    lay(startable)
    real = {name: value for name, value in startable.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-c", CLIENT, startable["PYTHONPATH"]]
    clients = [subprocess.Popen(command, env=real, stdout=subprocess.PIPE, text=True) for _ in range(20)]
    said = [client.communicate(timeout=50)[0] for client in clients]
    (pid,) = pids(startable)
    assert said == [f"{pid} 1\n"] * 20
    if lay is lay_foreign_file:
        assert Path(paths.socket_path(startable)).read_text() == "not yours"


def test_20_daemons_at_once_leave_one(startable: dict[str, str]) -> None:
    daemons = [
        subprocess.Popen([sys.executable, "-m", "agent_ls", "daemon"], env=startable, cwd="/") for _ in range(20)
    ]
    link = ensure_daemon(startable)
    pid = int(greeting(link).split()[0])
    losers = [daemon for daemon in daemons if daemon.pid != pid]
    assert [daemon.wait(timeout=50) for daemon in losers] == [0] * len(losers)
    assert pids(startable) == [pid]
    for daemon in daemons:
        daemon.kill()
        daemon.wait()


def test_a_daemon_is_no_child_of_who_started_it_and_holds_none_of_its_pipes(startable: dict[str, str]) -> None:
    real = {name: value for name, value in startable.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-c", CLIENT, startable["PYTHONPATH"]]
    done = subprocess.run(command, check=True, env=real, capture_output=True, text=True, timeout=30)
    (pid,) = pids(startable)
    # `run` came back: both pipes ended with the client, though the daemon lives.
    assert (done.stdout, done.stderr, alive(pid)) == (f"{pid} 1\n", "", True)
    assert os.getsid(pid) != os.getsid(0)
    assert os.readlink(f"/proc/{pid}/cwd") == "/"


def test_after_kill_9_the_next_start_makes_a_new_daemon(startable: dict[str, str]) -> None:
    greeting(ensure_daemon(startable))
    (first,) = pids(startable)
    kill(first)
    with ensure_daemon(startable) as link:
        assert link.recv(100).split()[0] == b"%d" % pids(startable)[1]


def test_a_daemon_that_fails_gives_its_reason_at_once(env: dict[str, str], tmp_path: Path) -> None:
    package = tmp_path / "agent_ls"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("raise SystemExit('The ledger is on fire. Fetch water.')")
    with pytest.raises(NoDaemon, match=r"^The daemon did not start: The ledger is on fire\. Fetch water\.$"):
        ensure_daemon({**env, "PYTHONPATH": os.fspath(tmp_path)})


def test_the_holder_is_found_from_another_runtime_directory(startable: dict[str, str], tmp_path: Path) -> None:
    first = greeting(ensure_daemon(startable))
    elsewhere = {**startable, "AGENT_LS_RUNTIME_DIR": f"{startable['AGENT_LS_RUNTIME_DIR']}/other"}
    assert greeting(ensure_daemon(elsewhere)) == first


def test_two_states_that_share_a_runtime_directory_have_a_daemon_each(
    startable: dict[str, str], tmp_path: Path
) -> None:
    other = {**startable, "AGENT_LS_STATE_DIR": os.fspath(tmp_path / "state")}
    try:
        first, second = greeting(ensure_daemon(startable)), greeting(ensure_daemon(other))
        assert first != second
        assert (greeting(ensure_daemon(startable)), greeting(ensure_daemon(other))) == (first, second)
    finally:
        for pid in pids(other):
            kill(pid)


def test_directories_and_socket_are_private(env: dict[str, str]) -> None:
    nested = {**env, "AGENT_LS_RUNTIME_DIR": f"{env['AGENT_LS_RUNTIME_DIR']}/deep/er"}
    listener = bind(nested)
    modes = [stat.S_IMODE(os.stat(path).st_mode) for path in (os.path.dirname(listener.path), listener.path)]
    listener.close()
    assert modes == [0o700, 0o600]


def test_a_directory_of_another_user_or_open_to_others_is_refused(env: dict[str, str], runtime_dir: Path) -> None:
    runtime_dir.chmod(0o770)
    with pytest.raises(CannotListen, match=f"Others may write to {runtime_dir}"):
        bind(env)


def test_a_second_daemon_in_the_same_state_is_told_that_there_is_one(env: dict[str, str]) -> None:
    listener = bind(env)
    with pytest.raises(AlreadyRunning):
        bind(env)
    listener.close()


def test_a_holder_that_does_not_answer_is_named(env: dict[str, str]) -> None:
    listener = bind(env)
    os.unlink(listener.path)
    with pytest.raises(CannotListen, match=rf"is held by process {os.getpid()}, which does not answer"):
        bind(env, lock_s=0)
    listener.close()


@pytest.fixture
def crowded(env: dict[str, str]) -> Iterator[socket.socket]:
    """A daemon's socket whose queue is full; nobody is let in until the test does."""
    paths.private_directory(paths.runtime_dir(env))
    waiting: list[socket.socket] = []
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(paths.socket_path(env))
        listening.listen(0)
        with suppress(BlockingIOError):
            while True:
                waiting.append(socket.socket(socket.AF_UNIX))
                waiting[-1].setblocking(False)
                waiting[-1].connect(paths.socket_path(env))
        yield listening
    for link in waiting:
        link.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere a full queue refuses")
def test_a_client_stands_in_line_when_many_come_at_once(env: dict[str, str], crowded: socket.socket) -> None:
    def let_in() -> None:
        for _ in range(2):
            crowded.accept()[0].close()

    with ThreadPoolExecutor() as pool:
        linked = pool.submit(connect, env)
        with pytest.raises(TimeoutError):
            linked.result(timeout=0.1)
        pool.submit(let_in)
        link = linked.result(timeout=10)
    assert link is not None
    link.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere a full queue refuses")
def test_a_daemon_that_lets_nobody_in_is_told_with_the_way_out(
    env: dict[str, str], crowded: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_ls.bridge.start.CONNECT_S", 0.1)
    with pytest.raises(NoDaemon, match="agent-ls restart --force"):
        connect(env)


def test_after_close_nothing_is_left_that_a_client_could_take_for_a_daemon(env: dict[str, str]) -> None:
    bind(env).close()
    assert connect(env) is None
    assert not os.path.exists(paths.socket_path(env))
    assert paths.read_holder(env) is None


@pytest.mark.anyio
async def test_a_socket_that_vanished_is_made_again(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_ls.daemon.listener.WATCH_S", 0.01)
    accepted = anyio.Event()

    async def serve(stream: ByteStream, _: object) -> None:
        await stream.aclose()
        accepted.set()

    listener = bind(env)
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, serve, SystemClock().sleep)
            await anyio.wait_all_tasks_blocked()
            os.unlink(listener.path)
            while not os.path.exists(listener.path):
                await anyio.lowlevel.checkpoint()
            async with await anyio.connect_unix(listener.path):
                await accepted.wait()
            tasks.cancel_scope.cancel()
    listener.close()


@pytest.mark.anyio
async def test_more_links_than_a_person_has_windows_are_refused_and_one_that_ends_makes_room(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_ls.daemon.listener.MOST_LINKS", 2)
    monkeypatch.setattr("agent_ls.daemon.listener.MOST_REFUSED", 1)
    listener = bind(env)
    received: list[str] = []
    news = anyio.Event()

    async def serve(stream: ByteStream, reception: str) -> None:
        nonlocal news
        received.append(reception)
        news.set()
        async with stream:
            with suppress(anyio.EndOfStream):
                await stream.receive()
        received.append("gone")
        news.set()

    async def until(*expected: str) -> None:
        nonlocal news
        while received != list(expected):
            news = anyio.Event()
            await news.wait()

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks, AsyncExitStack() as links:
            tasks.start_soon(listener.serve, serve, SystemClock().sleep)
            first = await anyio.connect_unix(listener.path)
            for _ in range(2):
                await links.enter_async_context(await anyio.connect_unix(listener.path))
            await until("welcome", "welcome", "full")
            async with await anyio.connect_unix(listener.path) as shut_out:
                with pytest.raises(anyio.EndOfStream):
                    await shut_out.receive()
            await first.aclose()
            await until("welcome", "welcome", "full", "gone")
            async with await anyio.connect_unix(listener.path):
                await until("welcome", "welcome", "full", "gone", "welcome")
            tasks.cancel_scope.cancel()
    listener.close()
