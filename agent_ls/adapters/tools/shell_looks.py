"""What a command would really look at: its paths with every link resolved, its programs as the PATH has them.

Owns the questions to the disk and the environment in which a harmless command stays harmless. Which commands those are
is core.harmless; whether they may run is core.policy.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from agent_ls.core.harmless import Look, Plain, Seen, survey
from agent_ls.core.harmless_table import BUILTINS, Sight
from agent_ls.core.shell_command import Argv, Unvouched, Vouched, parse
from agent_ls.core.uris import is_within

Sights = tuple[tuple[Seen, ...] | None, ...]

MOST_TARGETS: Final = 100
# Exported functions stand before programs; the others say which repository, flags or helpers a program takes.
_STEERING: Final = ("BASH_FUNC_", "GIT_", "GREP_", "LESS", "POSIXLY_CORRECT")


@dataclass(frozen=True)
class Looked:
    """`targets`: words, and names of programs, that lead elsewhere than they say. `brought`: those names."""

    sights: Sights
    targets: dict[str, str]
    brought: tuple[str, ...]

    @property
    def decides(self) -> list[Any]:
        """What was looked at is part of what is approved."""
        seen = [None if one is None else [(each.path, each.folder) for each in one] for one in self.sights]
        return [self.targets, seen]


def look(command: str, environment: Mapping[str, str], *, cwd: str, root: str, looks_once: bool) -> Looked:
    """`looks_once`: it ends before anything else is done; else it is never taken for harmless."""
    seen = sights(command, environment, cwd=cwd, root=root) if looks_once else ()
    own = {} if only_looks(seen) else brought(command, environment, cwd=cwd, root=root)
    return Looked(seen, {**targets(command, cwd), **own}, tuple(own))


def sights(command: str, environment: Mapping[str, str], *, cwd: str, root: str) -> Sights:
    """For each simple command what it sees, None for one that is not known to be harmless."""
    steps = survey(command)
    if not steps:
        return ()
    words = parse(command)
    assert not isinstance(words, Unvouched)
    if any(step is None for step in steps):
        # What stands beside may change the files before they are looked at, and runs with the PATH as it is.
        return tuple(
            () if step == Plain(()) and _is_itself(argv[0], environment, cwd=cwd, root=root) else None
            for step, argv in zip(steps, words.commands, strict=True)
        )
    places, found = [cwd], list[tuple[Seen, ...] | None]()
    for step in steps:
        assert step is not None
        looks = [(look, place) for look in step.looks for place in places]
        found.append(None if any(_empties(*each) for each in looks) else tuple(_seen(*each) for each in looks))
        if step.moves is not None:
            places += [os.path.join(place, step.moves) for place in places]
    return tuple(found)


def only_looks(seen: Sights) -> bool:
    return bool(seen) and None not in seen


def undisturbed(environment: Mapping[str, str], root: str) -> dict[str, str]:
    """The environment without what the workspace could slip in: its folders on the PATH, functions, steering."""
    kept = {name: value for name, value in environment.items() if not name.startswith(_STEERING)}
    return {**kept, "PATH": outer_path(environment.get("PATH"), root)}


@lru_cache(maxsize=64)
def outer_path(path: str | None, root: str) -> str:
    """The PATH without folders of the workspace, and without relative ones. Kept: no workspace can move the others."""
    return os.pathsep.join(folder for folder in _folders(path) if not _is_inside(folder, root))


def brought(command: str, environment: Mapping[str, str], *, cwd: str, root: str) -> dict[str, str]:
    """Programs of the command that are the workspace's own, or a function that has the name, with their place."""
    words = parse(command)
    names = {argv[0] for argv in words.commands} if isinstance(words, Vouched) else set()
    found: dict[str, str] = {}
    for name in sorted(name for name in names if "/" not in name):
        if f"BASH_FUNC_{name}%%" in environment:
            found[name] = f"function {name}"
        elif name not in BUILTINS and (first := _first(name, environment, cwd)) and _is_inside(first, root):
            found[name] = os.path.realpath(first)
    return found


def targets(command: str, cwd: str) -> dict[str, str]:
    """Words of the command that lead elsewhere than they say, with where that is."""
    words = parse(command)
    commands: tuple[Argv, ...] = words.seen if isinstance(words, Unvouched) else words.commands
    found: dict[str, str] = {}
    for word in list(dict.fromkeys(word for argv in commands for word in argv))[:MOST_TARGETS]:
        path = os.path.join(cwd, word)
        if word.startswith("-") or "\0" in word or len(word) > 4096:
            continue
        real = os.path.realpath(path)
        if real != os.path.normpath(path):
            found[word] = real
    return found


def _seen(look: Look, place: str) -> Seen:
    path = os.path.realpath(os.path.join(place, look.path))
    return Seen(path, look.sight, folder=os.path.isdir(path))


def _empties(look: Look, place: str) -> bool:
    """A pipe or a device: who reads it takes something away."""
    try:
        mode = os.stat(os.path.join(place, look.path)).st_mode
    except (OSError, ValueError):
        return False
    return look.sight is Sight.CONTENT and not stat.S_ISDIR(mode) and not stat.S_ISREG(mode)


def _is_itself(program: str, environment: Mapping[str, str], *, cwd: str, root: str) -> bool:
    """Whether the PATH leads to no program of the workspace, and no function has its name."""
    if f"BASH_FUNC_{program}%%" in environment:
        return False
    first = _first(program, environment, cwd)
    return program in BUILTINS or (first is not None and not _is_inside(first, root))


def _first(program: str, environment: Mapping[str, str], cwd: str) -> str | None:
    """Where the PATH leads for a name, as a command in `cwd` sees it."""
    paths = (os.path.join(cwd, folder, program) for folder in _folders(environment.get("PATH")))
    return next((path for path in paths if os.access(path, os.X_OK) and not os.path.isdir(path)), None)


def _folders(path: str | None) -> list[str]:
    return (path or os.defpath).split(os.pathsep)


def _is_inside(path: str, root: str) -> bool:
    if not os.path.isabs(path):
        return True
    return is_within(os.path.realpath(path), root)
