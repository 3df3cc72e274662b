"""Files of instructions for the agent, as they stand in folders of this machine.

Owns that none of them can hurt: no links, no large ones, nothing but plain files. Does not own which folders are looked
at (daemon.instructions). Blocking, and quick: what has not changed is not read again.
"""

import logging
import os
import stat
from collections.abc import Sequence
from typing import Final

log = logging.getLogger(__name__)

NAMES: Final = ("AGENTS.md", "CLAUDE.md")
"""The first one in a folder counts: where there are both, they mostly are one."""

LARGEST: Final = 32 * 1024

_Key = tuple[int, int]


class InstructionFiles:
    def __init__(self) -> None:
        self._known: dict[str, tuple[_Key, str]] = {}

    def read(self, folders: Sequence[str]) -> list[tuple[str, str]]:
        """(path, text) of each folder that has such a file, in the order of the folders."""
        found = (self._of(folder) for folder in dict.fromkeys(folders))
        return [each for each in found if each is not None and each[1].strip()]

    def _of(self, folder: str) -> tuple[str, str] | None:
        for name in NAMES:
            path = os.path.join(folder, name)
            key = _key(path)
            if key is None:
                continue
            known = self._known.get(path)
            if known is None or known[0] != key:
                known = self._known[path] = (key, _text(path))
            return path, known[1]
        return None


def _key(path: str) -> _Key | None:
    try:
        about = os.lstat(path)
    except OSError:
        return None
    return (about.st_mtime_ns, about.st_size) if stat.S_ISREG(about.st_mode) else None


def _text(path: str) -> str:
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        with open(os.open(path, flags), "rb") as file:
            # What stood there a moment ago may be a pipe by now, of which nothing can be read.
            content = file.read(LARGEST + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError as error:
        log.warning("%s cannot be read (%s)", path, type(error).__name__)
        return ""
    text = content[:LARGEST].decode("utf-8", "replace").removeprefix("\ufeff")
    return f"{text}\n(the rest of this file is left out)" if len(content) > LARGEST else text
