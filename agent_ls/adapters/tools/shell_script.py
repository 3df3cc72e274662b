"""What is started for a shell command: program, words and environment.

Owns that nothing can wait for a person (no prompt, editor, pager or desktop) and how the final working directory is
learned. The command itself is handed over as one word, byte for byte what was shown.
"""

import os
import shlex
import shutil
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from agent_ls.ports.processes import MARKER

_FAILS: Final = "false"
# A person's TMOUT (a hardened server has one) would end what only waits for a commit, as if the command had failed.
_HELD: Final = "TMOUT=0 read -r _ || exit; exec </dev/null; "

# Desktop and password helpers would ask where nobody looks; the rest changes what bash does before the command.
_DROPPED: Final = frozenset(
    {"DISPLAY", "WAYLAND_DISPLAY", "SSH_ASKPASS", "SUDO_ASKPASS", "GIT_ASKPASS", "BASH_ENV", "ENV", "SHELLOPTS"}
    | {"BASHOPTS", "BASH_XTRACEFD", "CDPATH", "OLDPWD"}
)
_SET: Final = {
    "AGENT_LS": "1",
    "TERM": "dumb",
    "EDITOR": _FAILS,
    "VISUAL": _FAILS,
    "GIT_EDITOR": _FAILS,
    "GIT_SEQUENCE_EDITOR": _FAILS,
    "GIT_TERMINAL_PROMPT": "0",
    # A look at a repository leaves no trace in it, and never stands in the way of the person's own git.
    "GIT_OPTIONAL_LOCKS": "0",
    "SSH_ASKPASS_REQUIRE": "never",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "DEBIAN_FRONTEND": "noninteractive",
}


# Looking at a repository writes its index and starts what its configuration names, unless it is told not to.
_GIT: Final = (("diff.autoRefreshIndex", "false"), ("core.fsmonitor", "false"))


def environment(given: Mapping[str, str], *, cwd: str, mark: str) -> dict[str, str]:
    """`given` is the workspace's, already without the daemon's secrets."""
    kept = {name: value for name, value in given.items() if name not in _DROPPED}
    return {**kept, **_SET, **_git_settings(kept), "PWD": cwd, MARKER: mark}


def has_functions(given: Mapping[str, str]) -> bool:
    """Whether exported functions are among it: one may have the name of a builtin, and comes before it."""
    return any(name.startswith("BASH_FUNC_") for name in given)


def _git_settings(given: Mapping[str, str]) -> dict[str, str]:
    """After those that the person has set in the same way."""
    counted = given.get("GIT_CONFIG_COUNT", "")
    first = int(counted) if counted.isdecimal() and len(counted) < 5 else 0
    settings = {"GIT_CONFIG_COUNT": str(first + len(_GIT))}
    for place, (key, value) in enumerate(_GIT, first):
        settings |= {f"GIT_CONFIG_KEY_{place}": key, f"GIT_CONFIG_VALUE_{place}": value}
    return settings


def words(command: str, *, path: str | None, cwd_file: str, held: bool = False) -> list[str]:
    """bash where there is one, else sh. The exit code is the command's; the trap only notes where it ended up.

    `held`: a line has to come before anything is done, and without one nothing is.
    """
    note = shlex.quote(f"pwd -P 2>/dev/null >|{shlex.quote(cwd_file)}")
    # The blank keeps `eval` from taking a command that begins with `-` for an option.
    script = f'{_HELD if held else ""}trap {note} EXIT; eval " $1"'
    bash = _bash(path)
    if bash:
        return [bash, "--noprofile", "--norc", "-c", script, "bash", command]
    return ["/bin/sh", "-c", script, "sh", command]


@lru_cache(maxsize=16)
def _bash(path: str | None) -> str | None:
    return shutil.which("bash", path=path) or shutil.which("bash", path=os.defpath)


def read_cwd(cwd_file: str) -> str | None:
    """Where the shell stood at its end, if it said so and that folder is there; the note is removed."""
    try:
        with open(cwd_file, "rb") as file:
            path = os.fsdecode(file.read(8192).removesuffix(b"\n"))
        os.unlink(cwd_file)
    except OSError:
        return None
    return path if path.startswith("/") and "\0" not in path and os.path.isdir(path) else None
