"""One file under several names: hard links, mounts, and volumes that take `A` and `a` for the same.

Owns what the disk says about that. Which places matter is core.sensitive, what follows core.policy.
"""

import os
import stat
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from pathlib import PurePath
from typing import Final

MOST_NAMES: Final = 2_000
"""Looked through for another name of one file: as many as take a few milliseconds."""


def folds(folder: str) -> bool:
    """Whether the volume of a folder takes another case for the same name; False where that cannot be told.

    Of a folder that is still to be made, what the one around it does.
    """
    while (own := _identity(folder)) is None and folder not in ("", "/"):
        folder = os.path.dirname(folder)
    return _folds(folder, own)


@lru_cache(maxsize=256)
def _folds(folder: str, own: tuple[int, int] | None) -> bool:
    """Asked of the nearest name with letters in it, which may be the folder's own."""
    place = PurePath(folder)
    while own is not None and place.name:
        other = place.name.swapcase()
        if other != place.name:
            return _identity(os.fspath(place.with_name(other))) == _identity(os.fspath(place))
        place = place.parent
    return False


def as_spelled(path: str) -> str:
    """A real path with its names in the case that the disk has them in, where its volume folds case."""
    folder, name = os.path.split(path)
    if not name or not folds(folder):
        return path
    above = as_spelled(folder)
    try:
        names = os.listdir(above)
    except OSError:
        return os.path.join(above, name)
    same = [each for each in names if each.casefold() == name.casefold()]
    return os.path.join(above, same[0] if len(same) == 1 and name not in names else name)


def twins(paths: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """The paths again, as they would be spelled beneath the known places that they are in by (device, inode).

    Real absolute paths; only names that differ from those given.
    """
    places = {identity: place for place in known if (identity := _identity(place)) is not None}
    found: list[str] = []
    for path in paths:
        for ancestor in (path.rstrip("/"), *map(os.fspath, PurePath(path).parents)):
            place = places.get(_identity(ancestor) or (-1, -1))
            if place is not None and place != ancestor:
                found.append(place + path[len(ancestor) :])
    return tuple(dict.fromkeys(found))


def linked(paths: Iterable[str], folders: Iterable[str]) -> tuple[tuple[str, ...], str | None]:
    """Names that files with several hard links have in these folders, and a folder that is too large to be sure."""
    wanted = {found for path in paths if (found := _shared(path)) is not None}
    names: list[str] = []
    left = MOST_NAMES
    for folder in folders if wanted else ():
        own = _identity(folder)
        if own is None or all(device != own[0] for device, _ in wanted):
            continue
        waiting = [folder]
        while waiting:
            entries = _entries(waiting.pop())
            left -= len(entries)
            if left < 0:
                return tuple(names), folder
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif (own[0], entry.inode()) in wanted:
                    names.append(entry.path)
    return tuple(names), None


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(islice(found, MOST_NAMES + 1))
    except OSError:
        return []


def _shared(path: str) -> tuple[int, int] | None:
    """The identity of a file that has other hard links."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) and found.st_nlink > 1 else None


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino
