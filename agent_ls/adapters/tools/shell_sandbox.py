"""A command in a sandbox: bubblewrap on Linux, seatbelt on macOS.

Owns what is walled off (all but the workspace is read-only, the network is off, the daemon's own directories and ways
to other programs of the person are hidden) and how a failure that comes of it is recognised. Whether it is used at all
is the person's own configuration; that a command outside of it is asked for is policy's.
"""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_BUBBLEWRAP: Final = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap")
_SEATBELT: Final = ("/usr/bin/sandbox-exec",)
# Who talks to them has something done outside: a user's services, containers.
_DOORS: Final = ("/run/user", "/run/docker.sock", "/var/run/docker.sock", "/run/podman", "/run/dbus")
_TOLD: Final = ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK")
# What programs make of EROFS, ENETUNREACH, a resolver without a network, and EPERM: in words, or by its name.
_WRITES: Final = re.compile(r"Read-only file ?system|\bEROFS\b|\[Errno 30\]", re.IGNORECASE)
_NETWORK: Final = re.compile(
    r"Network (?:is )?unreachable|\bENETUNREACH\b|Temporary failure (?:in name resolution|resolving)"
    r"|Could ?n[o']t resolve|unable to resolve host|Name or service not known|nodename nor servname"
    r"|No address associated|getaddrinfo|\bEAI_AGAIN\b|\bENOTFOUND\b|UnknownHostException|no such host"
    r"|Failed to lookup address",
    re.IGNORECASE,
)
_RIGHTS: Final = re.compile(
    r"Operation not permitted|\bEPERM\b|no new privileges|Failed to connect to (?:the )?(?:system |session )?bus"
    r"|Cannot connect to the (?:Docker|Podman) daemon",
    re.IGNORECASE,
)
_SET_UP: Final = re.compile(r"^(?:bwrap|sandbox-exec): ", re.MULTILINE)
_LINES: Final = 12
_LONGEST_LINE: Final = 300


@dataclass(frozen=True, kw_only=True)
class Sandbox:
    """`program` is bwrap or sandbox-exec. `writable` beside the workspace, `hidden` from every command."""

    program: str
    network: bool = False
    writable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()

    def words(self, argv: Sequence[str], *, root: str, cwd: str, note: str) -> list[str]:
        """`note` is a file outside of what is writable that the command writes all the same."""
        with open(note, "ab"):
            pass
        if self.program in _SEATBELT:
            return [self.program, "-p", self._profile(root, note), *argv]
        return [self.program, *self._mounts(root, note), "--chdir", cwd, "--", *argv]

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        return {**{name: value for name, value in given.items() if name not in _TOLD}, "TMPDIR": "/tmp"}

    def _mounts(self, root: str, note: str) -> list[str]:
        words = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
        for path in (root, *self.writable):
            words += ["--bind-try", path, path]
        rules = os.path.join(root, ".agent-ls")
        words += ["--ro-bind-try", rules, rules]
        for path in (*self.hidden, *_DOORS):
            if os.path.isdir(path):
                words += ["--tmpfs", os.path.realpath(path)]
            elif os.path.exists(path):
                words += ["--ro-bind", "/dev/null", os.path.realpath(path)]
        words += ["--bind", note, note]
        apart = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent"]
        return words + apart + ([] if self.network else ["--unshare-net"])

    def _profile(self, root: str, note: str) -> str:
        """The last rule that fits decides."""
        writable = [root, *self.writable, "/private/tmp", "/private/var/folders", "/dev"]
        lines = ["(version 1)", "(allow default)", "(deny file-write*)"]
        lines += [f"(allow file-write* (subpath {_quoted(path)}))" for path in writable]
        lines.append(f"(deny file-write* (subpath {_quoted(os.path.join(root, '.agent-ls'))}))")
        lines += [f"(deny file-read* file-write* network* (subpath {_quoted(path)}))" for path in self.hidden]
        lines.append(f"(allow file-read* file-write* (literal {_quoted(note)}))")
        return "\n".join(lines if self.network else [*lines, "(deny network*)"])


def find(*, network: bool, writable: tuple[str, ...], hidden: tuple[str, ...]) -> Sandbox | str:
    """The sandbox of this machine, or a sentence on what is missing."""
    programs = _SEATBELT if sys.platform == "darwin" else _BUBBLEWRAP
    program = next((path for path in programs if os.access(path, os.X_OK)), None)
    if program is None:
        return (
            "Commands are to run in a sandbox (`sandbox.enabled`), but this machine has none, so none is run. Install "
            "bubblewrap, or switch the sandbox off in config.toml."
        )
    return Sandbox(program=program, network=network, writable=writable, hidden=hidden)


@dataclass(frozen=True)
class Blame:
    """`why` in words, `said` the lines of the output that show it."""

    why: str
    said: str


def blamed(output: str, code: int | None, *, network: bool = False) -> Blame | None:
    """Why a command failed, where that was the sandbox by all appearances. `network`: it had one."""
    if not code:
        return None
    signs = [(_SET_UP, "it could not be set up"), (_WRITES, "it may not write there")]
    signs += [] if network else [(_NETWORK, "it has no network")]
    for sign, why in (*signs, (_RIGHTS, "it may not do that")):
        if found := sign.search(output):
            return Blame(why, _around(output, found.start()))
    return None


def _around(output: str, place: int) -> str:
    """The first lines of a short output; of a long one those around the place."""
    lines = output.strip("\n").split("\n")
    first = max(0, output[:place].lstrip("\n").count("\n") - _LINES // 2) if len(lines) > _LINES else 0
    shown = [line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + "…" for line in lines[first:][:_LINES]]
    return "\n".join([*(["…"] if first else []), *shown, *(["…"] if first + _LINES < len(lines) else [])])


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
