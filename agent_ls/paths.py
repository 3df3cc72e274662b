"""Where agent-ls keeps its things, and what the start lock says about who holds them.

Owns directories, their modes, and the form of the start lock. Does not own taking that lock (daemon/listener)
nor connecting (bridge/start). Standard library only and cheap: the bridge imports it within its 60 ms.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False  # the real one is in `typing`, whose import costs more than this module
if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_SOCKET_PATH = 100
SOCKET_NAME = "daemon.sock"


class UnsafePath(Exception):
    """A directory that cannot be used; the text is a sentence that says what to do."""


class Holder:
    """What the start lock says: the daemon's process, the socket it listens on, and its version if it says one."""

    __slots__ = ("pid", "socket", "version")

    def __init__(self, pid: int, socket: str, version: str = "") -> None:
        self.pid = pid
        self.socket = socket
        self.version = version


def state_dir(env: Mapping[str, str] = os.environ) -> str:
    return _own(env, "AGENT_LS_STATE_DIR") or _xdg(env, "XDG_STATE_HOME", ".local/state")


def config_path(env: Mapping[str, str] = os.environ) -> str:
    own = _own(env, "AGENT_LS_CONFIG")
    return own or os.path.join(_xdg(env, "XDG_CONFIG_HOME", ".config"), "config.toml")


def runtime_dir(env: Mapping[str, str] = os.environ) -> str:
    """Never `TMPDIR`: it differs between a login shell, an editor started by a desktop, and a test."""
    base = env.get("XDG_RUNTIME_DIR", "")
    wanted = _own(env, "AGENT_LS_RUNTIME_DIR") or (
        os.path.join(base, "agent-ls") if os.path.isabs(base) else os.path.join(state_dir(env), "run")
    )
    if len(os.fsencode(os.path.join(wanted, SOCKET_NAME))) > LONGEST_SOCKET_PATH:
        return f"/tmp/agent-ls-{os.getuid()}"
    return wanted


def socket_path(env: Mapping[str, str] = os.environ) -> str:
    """Where a daemon listens unless its start lock says otherwise."""
    return os.path.join(runtime_dir(env), SOCKET_NAME)


def logs_dir(env: Mapping[str, str] = os.environ) -> str:
    return os.path.join(state_dir(env), "logs")


def log_path(env: Mapping[str, str] = os.environ) -> str:
    return os.path.join(logs_dir(env), "daemon.log")


def start_log_path(env: Mapping[str, str] = os.environ) -> str:
    """What a daemon said before its log was open: the reason when it does not start."""
    return os.path.join(logs_dir(env), "daemon-start.log")


def lock_path(env: Mapping[str, str] = os.environ) -> str:
    """Held by the daemon as long as it lives: one daemon for one state directory."""
    return os.path.join(state_dir(env), "daemon.lock")


def spawn_lock_path(env: Mapping[str, str] = os.environ) -> str:
    """Held by a client while it starts a daemon, so that twenty at once start one process, not twenty."""
    return os.path.join(state_dir(env), "start.lock")


def successor_lock_path(env: Mapping[str, str] = os.environ) -> str:
    """Held by a daemon that waits for the one before it to end: nobody starts another one meanwhile."""
    return os.path.join(state_dir(env), "successor.lock")


def successor_log_path(env: Mapping[str, str] = os.environ) -> str:
    """What a successor said that could not take over."""
    return os.path.join(logs_dir(env), "successor.log")


def owner_path(socket: str) -> str:
    """Beside a socket: the state directory it serves, for two states that share one runtime directory."""
    return f"{socket}.state"


def absolute(env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment for a daemon, which runs in `/`: our own relative directories made absolute."""
    ours = ("AGENT_LS_STATE_DIR", "AGENT_LS_RUNTIME_DIR", "AGENT_LS_CONFIG")
    return {**env, **{name: value for name in ours if (value := _own(env, name))}}


def private_directory(path: str) -> str:
    """Make it or check it: ours, mode 0700. Fails closed with a sentence."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        link, target = os.lstat(path), os.stat(path)
    except OSError as error:
        raise UnsafePath(f"The directory {path} cannot be made ({error.strerror}). {_ELSEWHERE}") from None
    if {link.st_uid, target.st_uid} != {os.getuid()}:
        raise UnsafePath(f"The directory {path} belongs to another user. {_ELSEWHERE}")
    mode = stat.S_IMODE(target.st_mode)
    if mode & 0o022:
        # Somebody else may have put things into it: to tighten it now would only hide that.
        raise UnsafePath(f"Others may write to {path}. Look into it, then run `chmod 700 {path}`.")
    if mode & 0o077:
        try:
            os.chmod(path, 0o700)
        except OSError as error:
            raise UnsafePath(f"{path} is open to others and stays so ({error.strerror}). {_ELSEWHERE}") from None
    return path


def read_holder(env: Mapping[str, str] = os.environ) -> Holder | None:
    """Who wrote the start lock last. It may be dead; only connecting tells."""
    text = _read_own(lock_path(env))
    pid, socket, version = [*text.split("\n"), "", "", ""][:3]
    return Holder(int(pid), socket, version) if pid.isdecimal() and os.path.isabs(socket) else None


def holder_line(pid: int, socket: str, version: str = "") -> bytes:
    return f"{pid}\n{socket}\n{version}\n".encode(errors="surrogateescape")


def serves_other_state(socket: str, env: Mapping[str, str] = os.environ) -> str | None:
    """The state directory that this socket serves, if it is known and not ours."""
    served = _read_own(owner_path(socket)).strip("\n")
    return served if served and served != os.path.realpath(state_dir(env)) else None


_ELSEWHERE = "Set AGENT_LS_STATE_DIR or AGENT_LS_RUNTIME_DIR to a local directory of your own."


def _own(env: Mapping[str, str], name: str) -> str:
    value = env.get(name, "")
    return os.path.abspath(os.path.expanduser(value)) if value else ""


def _xdg(env: Mapping[str, str], name: str, default: str) -> str:
    base = env.get(name, "")
    if not os.path.isabs(base):  # the XDG rule: a relative one is ignored
        base = os.path.join(env.get("HOME") or os.path.expanduser("~"), default)
    return os.path.join(base, "agent-ls")


def _read_own(path: str) -> str:
    """A small file of ours, empty if there is none or somebody else wrote it."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(8192) if os.fstat(file.fileno()).st_uid == os.getuid() else ""
    except OSError:
        return ""
