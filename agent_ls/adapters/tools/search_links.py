"""Files of guarded folders under other names: a search does not show what a hard link has brought out of one.

Owns the look at those folders, made when a file with several links is met and not before. What is guarded is told.
"""

import os
import stat
from collections.abc import Sequence
from typing import Final

MOST: Final = 200_000


class Links:
    """`folders` are absolute. One with more names than anybody looks through makes every file with links doubtful."""

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = folders
        self._known: set[tuple[int, int]] | None = None
        self._large = False

    def hides(self, path: str) -> bool:
        """Whether the file is one of a guarded folder, under another name."""
        if not self._folders:
            return False
        try:
            found = os.lstat(path)
        except OSError:
            return False
        if not stat.S_ISREG(found.st_mode) or found.st_nlink < 2:
            return False
        if self._known is None:
            self._known = self._look()
        return self._large or (found.st_dev, found.st_ino) in self._known

    def _look(self) -> set[tuple[int, int]]:
        known: set[tuple[int, int]] = set()
        seen = 0
        for folder in self._folders:
            for place, _, names in os.walk(folder):
                seen += len(names)
                if seen > MOST:
                    self._large = True
                    return known
                known |= {found for name in names if (found := _shared(os.path.join(place, name))) is not None}
        return known


def _shared(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) and found.st_nlink > 1 else None
