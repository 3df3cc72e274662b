"""The daemon's socket: taken once for a state directory, watched, and opened to peers that may come in.

Owns the start race, the start lock and who gets past the door. Does not own what is said on a link (editor) nor when
the daemon ends (lifecycle).

The race, as in tmux: connect, take the lock, connect again, unlink a dead socket, bind. The lock is held as long as
the daemon lives, so whoever holds it knows that a socket of this state directory is dead. A socket that another
state's daemon holds at the usual path is left to it, as is a file that is no socket: another name is taken, which the
lock tells clients.
"""

import fcntl
import logging
import os
import select
import socket
import stat
import time
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Literal

import anyio
from anyio.abc import ByteStream, TaskGroup

from agent_ls import paths
from agent_ls.adapters.host.filesystem import network_filesystem
from agent_ls.bridge.start import NoDaemon, connect
from agent_ls.daemon.link import Link
from agent_ls.daemon.peers import OrphanReaper, verdict

BACKLOG = 128
WATCH_S = 2.0
# A daemon that is ending gives the lock up within this time; one that holds it longer and does not answer is stuck.
LOCK_S = 5.0

# Each link costs descriptors and memory. No person has as many windows, and a program gone wild takes no more.
MOST_LINKS = 256
# Beyond that some are told why, the rest finds the door shut.
MOST_REFUSED = 16

Reception = Literal["welcome", "descendant", "full"]
Serve = Callable[[ByteStream, Reception], Coroutine[Any, Any, object]]
Sleep = Callable[[float], Awaitable[None]]

log = logging.getLogger(__name__)


class AlreadyRunning(Exception):
    """Another daemon serves this state directory: nothing to do, and no error."""


class CannotListen(Exception):
    """The text is a sentence that says what to do."""


class Listener:
    """Made by `bind`. Whoever holds it holds the state directory. `seals`: our children bear the mark (seal).

    `links`: how many there are, by how they were received.
    """

    def __init__(self, lock: int, path: str) -> None:
        self.path = path
        self.seals = False
        self._lock = lock
        self._socket = _listen(path)
        self._inode = os.lstat(path).st_ino
        self._told_foreign = False
        self._hung_up = False
        self.links: Counter[Reception] = Counter()

    def hang_up(self) -> None:
        """Let nobody in any more: who comes now waits for the next daemon. The state directory is still ours."""
        if self._hung_up:
            return
        self._hung_up = True
        self._socket.close()
        if self._is_ours():
            os.unlink(self.path)

    def close(self) -> None:
        """Give up socket and state directory. Links that were accepted live on."""
        self.hang_up()
        os.ftruncate(self._lock, 0)
        os.close(self._lock)

    async def serve(self, serve: Serve, sleep: Sleep) -> None:
        """Accept until cancelled. `serve(stream, reception)` owns the link; who is not welcome is refused."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, sleep)
            while True:
                await self._accept(tasks, serve, sleep)

    async def _accept(self, tasks: TaskGroup, serve: Serve, sleep: Sleep) -> None:
        listening = self._socket
        try:
            await anyio.wait_readable(listening)
            link, _ = listening.accept()
        except BlockingIOError:
            return
        except (anyio.ClosedResourceError, OSError) as error:
            if listening is self._socket:
                # Out of file descriptors, most likely: do not spin.
                log.warning("a connection could not be accepted: %s", type(error).__name__)
                await sleep(0.1)
            return
        decided = verdict(link, os.getpid(), seals=self.seals)
        if decided == "stranger":
            log.warning("a connection of another user was closed")
            link.close()
            return
        if decided == "descendant":
            log.warning("a process that descends from the daemon asked to be let in; it is refused")
        reception: Reception = "full" if decided == "welcome" and self.links["welcome"] >= MOST_LINKS else decided
        if reception != "welcome" and self.links[reception] >= MOST_REFUSED:
            log.warning("a connection was closed: %d are refused already", MOST_REFUSED)
            link.close()
            return
        stream = await Link.of(link)
        self.links[reception] += 1
        tasks.start_soon(self._counted, serve, stream, reception)

    async def _counted(self, serve: Serve, stream: ByteStream, reception: Reception) -> None:
        try:
            await serve(stream, reception)
        finally:
            self.links[reception] -= 1

    async def _watch(self, sleep: Sleep) -> None:
        orphans = OrphanReaper()
        while True:
            await sleep(WATCH_S)
            orphans.sweep()
            try:
                self._bind_again_if_gone()
            except OSError as error:
                log.warning("the socket %s is gone and cannot be made again: %s", self.path, error.strerror)

    def _bind_again_if_gone(self) -> None:
        if os.path.lexists(self.path):
            if not self._is_ours() and not self._told_foreign:
                self._told_foreign = True
                log.warning("%s was replaced by something else; new clients cannot come in", self.path)
            return
        old = self._socket
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        self._socket = _listen(self.path)
        self._inode = os.lstat(self.path).st_ino
        self._told_foreign = False
        anyio.notify_closing(old)
        old.close()
        log.warning("the socket %s was gone and has been made again", self.path)

    def _is_ours(self) -> bool:
        try:
            return os.lstat(self.path).st_ino == self._inode
        except OSError:
            return False


def bind(
    env: Mapping[str, str] = os.environ, *, lock_s: float = LOCK_S, after: int | None = None, version: str = ""
) -> Listener:
    """Become the daemon of this state directory. Raises AlreadyRunning or CannotListen.

    `after`: the pid of a daemon that is ending; its socket may still be there for a moment.
    """
    state = _directories(env)
    if kind := network_filesystem(state):
        raise CannotListen(
            f"The state directory {state} is on a network file system ({kind}), where locks do not hold. "
            "Set AGENT_LS_STATE_DIR to a local directory."
        )
    _unless_answered(env, after)
    lock = _take_lock(env, time.monotonic() + lock_s, after=after)
    try:
        _unless_answered(env)
        path = _free_path(env, state)
        # Before the socket is there: who finds the lock waits for it, who finds the socket alone may not know it.
        os.ftruncate(lock, 0)
        os.pwrite(lock, paths.holder_line(os.getpid(), path, version), 0)
        with open(paths.owner_path(path), "w", encoding="utf-8", errors="surrogateescape") as owner:
            owner.write(os.path.realpath(state))
        return Listener(lock, path)
    except OSError as error:
        os.close(lock)
        raise CannotListen(f"The socket cannot be made ({error.strerror}). Run `agent-ls doctor`.") from None
    except BaseException:
        os.close(lock)
        raise


def _directories(env: Mapping[str, str]) -> str:
    try:
        paths.private_directory(paths.runtime_dir(env))
        return paths.private_directory(paths.state_dir(env))
    except paths.UnsafePath as error:
        raise CannotListen(str(error)) from None


def _unless_answered(env: Mapping[str, str], after: int | None = None) -> None:
    holder = paths.read_holder(env) if after is not None else None
    if holder and holder.pid == after:
        return
    try:
        link = connect(env)
    except NoDaemon as error:
        raise CannotListen(str(error)) from None
    if link:
        link.close()
        raise AlreadyRunning


def _take_lock(env: Mapping[str, str], deadline: float, *, after: int | None) -> int:
    path = paths.lock_path(env)
    while True:
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise CannotListen(
                f"The state directory cannot be written ({path}: {error.strerror}). "
                "Make it writable, or set AGENT_LS_STATE_DIR to another one."
            ) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _same_file(lock, path):
                return lock
        except BlockingIOError:
            pass
        os.close(lock)
        _unless_answered(env, after)
        if time.monotonic() > deadline:
            holder = paths.read_holder(env)
            who = f"process {holder.pid}" if holder else "another process"
            raise CannotListen(f"{path} is held by {who}, which does not answer. Run `agent-ls restart --force`.")
        select.select([], [], [], 0.02 if after is None else 0.002)


def _same_file(lock: int, path: str) -> bool:
    """Whether the file that was locked is still the one at its path."""
    try:
        return os.path.samestat(os.fstat(lock), os.stat(path))
    except OSError:
        return False


def _free_path(env: Mapping[str, str], state: str) -> str:
    """Where to listen: nothing there, or a dead socket of ours, which is unlinked. Nothing else is touched."""
    usual = paths.socket_path(env)
    mark = zlib.crc32(os.fsencode(os.path.realpath(state)))
    # No longer than the usual name: the length of a socket's path is limited.
    other = os.path.join(os.path.dirname(usual), f"{mark:08x}.s")
    for path in (usual, other):
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return path
        if stat.S_ISSOCK(found.st_mode) and found.st_uid == os.getuid() and not _answers(path):
            os.unlink(path)
            return path
        log.warning("%s is in the way: it is not a dead socket of ours, and is left alone", path)
    raise CannotListen(f"{usual} is in the way and is not a socket of agent-ls. Move it away and start again.")


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        except OSError:
            return True
        return True


def _listen(path: str) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.bind(path)
        os.chmod(path, 0o600)
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening
