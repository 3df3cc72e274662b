"""Reach the daemon of this state directory; start one if there is none.

Owns connecting, the check that the other end is ours, and the race of many clients that start at once. Does not own
the race of daemons for the state directory (daemon/listener). Standard library only; no `subprocess`, no `typing`:
their import costs more than the bridge has.
"""

from __future__ import annotations

import fcntl
import os
import select
import socket
import sys
import time

from agent_ls import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

START_S = 10.0
CONNECT_S = 5.0
POLL_S = 0.02
# A daemon that ended without a word most likely met another one that is taking or giving up the state directory.
SILENT_S = 0.5


class NoDaemon(Exception):
    """There is no daemon to talk to; the text is a sentence that says what to do."""


def connect(env: Mapping[str, str] = os.environ) -> socket.socket | None:
    """A link to the daemon of this state directory, or None if there is none."""
    holder = paths.read_holder(env)
    default = paths.socket_path(env)
    for path in dict.fromkeys((holder.socket if holder else default, default)):
        if not paths.serves_other_state(path, env) and (link := _try(path)):
            return link
    return None


def ensure_daemon(
    env: Mapping[str, str] = os.environ, *, wait_s: float = START_S, pause: Callable[[float], None] | None = None
) -> socket.socket:
    """Connect, starting a daemon if there is none. `pause` waits between two looks; it may raise to give up."""
    if link := connect(env):
        return link
    try:
        paths.private_directory(paths.state_dir(env))
        paths.private_directory(paths.logs_dir(env))
        paths.private_directory(paths.runtime_dir(env))
    except paths.UnsafePath as error:
        raise NoDaemon(str(error)) from None
    starter = _Starter(env)
    try:
        return _await_daemon(starter, time.monotonic() + wait_s, pause or _pause)
    finally:
        starter.close()


def last_words(env: Mapping[str, str] = os.environ, *, successor: bool = False) -> str:
    """What the daemon that was started last said before its log was open, if it ended with a reason."""
    path = paths.successor_log_path(env) if successor else paths.start_log_path(env)
    return _last_line(path).removeprefix("agent-ls: ")


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in {b"Z", b"X"}
    except (OSError, IndexError):
        return True


def successor_waits(env: Mapping[str, str] = os.environ) -> bool:
    """Whether a daemon waits for the one before it to end, and will be there in an instant."""
    try:
        lock = os.open(paths.successor_lock_path(env), os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def start_successor(env: Mapping[str, str] = os.environ, *options: str) -> int:
    """Starts a daemon that takes over from the one that is there, once it has loaded all it needs; its pid."""
    return _spawn(env, paths.successor_log_path(env), "--successor", *options)


def newer(version: str, other: str) -> bool:
    """Whether it comes after the other. What is no version (`1.2.3`) is neither newer nor older."""
    mine, theirs = _numbers(version), _numbers(other)
    return bool(mine and theirs) and mine > theirs


def no_answer(env: Mapping[str, str] = os.environ) -> str:
    """What to say of a daemon that takes links and says nothing."""
    holder = paths.read_holder(env)
    who = f" (process {holder.pid})" if holder else ""
    return f"The daemon{who} does not answer: it is stopped or stuck. End it with `agent-ls restart --force`."


def peer(link: socket.socket) -> tuple[int, int] | None:
    """(pid, uid) of the other end as the kernel tells; pid 0 where it tells none; None where it tells nothing."""
    try:
        if hasattr(socket, "SO_PEERCRED"):
            raw = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            return int.from_bytes(raw[0:4], sys.byteorder), int.from_bytes(raw[4:8], sys.byteorder)
        # macOS: SOL_LOCAL is 0, LOCAL_PEERCRED 1 (version, uid, ...), LOCAL_PEERPID 2.
        raw = link.getsockopt(0, 1, 76)
        return link.getsockopt(0, 2), int.from_bytes(raw[4:8], sys.byteorder)
    except OSError:
        return None


def _try(path: str) -> socket.socket | None:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.settimeout(CONNECT_S)
    try:
        _connect(link, path, time.monotonic() + CONNECT_S)
    except BlockingIOError:
        link.close()
        raise NoDaemon(
            f"The daemon does not answer at {path}: it is stopped, or too many clients wait. "
            "End a stuck one with `agent-ls restart --force`."
        ) from None
    except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
        link.close()
        return None
    except OSError as error:
        link.close()
        reason = error.strerror or "it does not answer"
        raise NoDaemon(f"The daemon's socket {path} cannot be reached ({reason}). Run `agent-ls doctor`.") from None
    found = peer(link)
    if found is None or found[1] != os.getuid():
        link.close()
        raise NoDaemon(f"The socket {path} is not held by a process of yours. Look into it, then remove it.")
    link.setblocking(True)
    return link


def _connect(link: socket.socket, path: str, deadline: float) -> None:
    """A full queue of clients is no answer yet: with a time limit set, the system says so at once and does not wait."""
    while True:
        try:
            return link.connect(path)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
        _pause(POLL_S)


def _await_daemon(starter: _Starter, deadline: float, pause: Callable[[float], None]) -> socket.socket:
    while True:
        starter.turn()
        if link := connect(starter.env):
            return link
        if reason := starter.failure():
            raise NoDaemon(f"The daemon did not start: {reason}")
        if time.monotonic() > deadline:
            raise NoDaemon(
                f"The daemon did not answer in time. See {paths.start_log_path(starter.env)}, "
                "or end a stuck one with `agent-ls restart --force`."
            )
        pause(POLL_S)


def _pause(seconds: float) -> None:
    select.select([], [], [], seconds)


class _Starter:
    """Starts the daemon, one client at a time; the lock is released by the kernel if that client dies."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = env
        self._lock: int | None = None
        self._pid = 0
        self._gone_at = 0.0

    def turn(self) -> None:
        if self._pid or successor_waits(self.env) or not self._locked():
            return
        # The one who held the lock before us may have just succeeded.
        if link := connect(self.env):
            link.close()
        else:
            self._pid = _spawn(self.env, paths.start_log_path(self.env))

    def failure(self) -> str | None:
        """Why the daemon that was started here has ended, once that is certain."""
        if not self._pid or alive(self._pid):
            return None
        said = last_words(self.env)
        if said:
            return said
        self._gone_at = self._gone_at or time.monotonic()
        if time.monotonic() - self._gone_at > SILENT_S:
            self._pid, self._gone_at = 0, 0.0  # another try, within the same time limit
        return None

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _locked(self) -> bool:
        if self._lock is not None:
            return True
        try:
            lock = os.open(paths.spawn_lock_path(self.env), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            path = paths.state_dir(self.env)
            raise NoDaemon(
                f"The state directory {path} cannot be written ({error.strerror}). "
                "Make it writable, or set AGENT_LS_STATE_DIR to another one."
            ) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return False
        self._lock = lock
        return True


def _spawn(env: Mapping[str, str], path: str, *options: str) -> int:
    """Start a daemon that is nobody's child and says at `path` why it cannot run; return its pid.

    Two forks: editors end a server by killing it and all its children, and the daemon must not be among them.
    """
    try:
        log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    except OSError as error:
        raise NoDaemon(f"{path} cannot be written ({error.strerror}). Make its directory writable.") from None
    told, tell = os.pipe()
    try:
        middle = os.fork()
    except OSError as error:
        for fd in (log, told, tell):
            os.close(fd)
        raise NoDaemon(
            f"The system starts no more processes ({error.strerror}). End some that you do not need, then try again."
        ) from None
    if middle == 0:
        try:
            os.setsid()
            daemon = os.fork()
            if daemon == 0:
                _become_daemon(env, log, options)
            os.write(tell, b"%d" % daemon)
        finally:
            os._exit(0)
    os.close(tell)
    os.close(log)
    os.waitpid(middle, 0)
    with open(told, "rb") as pipe:
        return int(pipe.read() or 0)


def _become_daemon(env: Mapping[str, str], log: int, options: tuple[str, ...]) -> None:
    try:
        os.chdir("/")
        null = os.open(os.devnull, os.O_RDWR)
        for source, target in ((null, 0), (log, 1), (log, 2)):
            os.dup2(source, target)
        # An editor's pipe that lived on in the daemon would never end.
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        os.execve(sys.executable, [sys.executable, "-m", "agent_ls", "daemon", *options], paths.absolute(env))
    except OSError as error:
        os.write(2, f"{sys.executable} cannot be run ({error.strerror}). Install agent-ls again.\n".encode())
    finally:
        os._exit(127)


def _numbers(version: str) -> list[int]:
    parts = version.split(".")
    return [int(part) for part in parts] if all(part.isdecimal() for part in parts) else []


def _last_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(65536).split("\n")
    except OSError:
        return ""
    # Lines that a traceback draws around its words say nothing.
    words = (line.strip(" |+-")[:500] for line in reversed(lines))
    return next((line for line in words if line), "")
