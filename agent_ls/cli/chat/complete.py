"""Completion in the input line: `/commands` with their words, `@files` of the workspace.

Owns which part of the line is completed and how far. Pure but for `files`, which looks at the disk.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_MENTION: Final = re.compile(r'(?<!\S)@("?)([^\s"]*)$')
_SKIPPED: Final = frozenset({".git", ".hg", ".venv", "venv", "node_modules", "__pycache__", "target", "dist"})
_LOOKED_AT: Final = 20_000
_SHOWN: Final = 40
Find = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class Completed:
    """`text` takes the place of what stands between `start` and the cursor; `choices` are what it may become."""

    start: int
    text: str
    choices: tuple[str, ...]


def complete(line: str, words: Mapping[str, Sequence[str]], find: Find) -> Completed | None:
    """`line` ends at the cursor. `words`: commands and what may follow each; `find`: files that begin so."""
    if found := _MENTION.search(line):
        return _completed(found.start() + 1, found[2], find(found[2]), closed=" ")
    command, blank, rest = line.partition(" ")
    if not line.startswith("/") or "\n" in line:
        return None
    if not blank:
        return _completed(0, command, sorted(word for word in words if word.startswith(command)), closed=" ")
    choices = [word for word in words.get(command, ()) if word.startswith(rest)]
    return _completed(len(command) + 1, rest, choices, closed="")


def files(begin: str, workspace: str) -> list[str]:
    """Of the named folder; where nothing there begins so, files anywhere below whose name holds it."""
    folder, _, name = begin.rpartition("/")
    hidden = name.startswith(".")
    found: list[str] = []
    try:
        with os.scandir(os.path.join(workspace, os.path.expanduser(folder or "."))) as entries:
            for entry in entries:
                if entry.name.startswith(name) and (hidden or not entry.name.startswith(".")):
                    found.append(f"{folder}/{entry.name}" if folder else entry.name)
                    found[-1] += "/" if entry.is_dir() else ""
    except OSError:
        return []
    usable = [path for path in found if not re.search(r'[\s"]', path)]
    return sorted(usable) or (_anywhere(name, workspace) if name and not folder else [])


def _anywhere(part: str, workspace: str) -> list[str]:
    found: list[str] = []
    looked = 0
    for folder, folders, names in os.walk(workspace):
        folders[:] = [name for name in folders if name not in _SKIPPED and not name.startswith(".")]
        looked += len(names)
        within = os.path.relpath(folder, workspace)
        found += [os.path.normpath(os.path.join(within, name)) for name in names if part in name]
        if looked > _LOOKED_AT or len(found) > _SHOWN:
            break
    return sorted(path for path in found if not re.search(r'[\s"]', path))


def _completed(start: int, typed: str, choices: Sequence[str], *, closed: str) -> Completed | None:
    if not choices:
        return None
    if len(choices) == 1:
        only = choices[0]
        return Completed(start, only if only.endswith("/") else only + closed, ())
    first, last = min(choices), max(choices)
    same = next((at for at, sign in enumerate(first) if not last.startswith(sign, at)), len(first))
    common = first[:same]
    return Completed(start, common if common.startswith(typed) else typed, tuple(choices[:_SHOWN]))
