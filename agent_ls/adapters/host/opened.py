"""Opening a file so that nothing waits and nothing is followed: by type first, through a handle of its folder.

Owns reading a regular file whole. Does not write, and does not decide what a path means.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from agent_ls.adapters.host.canonical import kind_of
from agent_ls.core.textfile import sha256
from agent_ls.ports.files import Content, Reason, Refused

_HOLD = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: a pipe that took the file's place between the look and the opening must not hold us.
_CALM = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
_CHUNK = 1 << 20


class Trouble(Exception):
    """Carries a refusal out of nested file work; never leaves adapters.host."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.message)
        self.refused = refused


@contextmanager
def folder_of(path: str, *, made: bool = False) -> Iterator[tuple[int, str]]:
    """A handle of the real path's folder, walked without following a link, and the name in it.

    `made`: folders that are missing are made on the way, so that nobody can turn it elsewhere in between.
    """
    *folders, name = [part for part in path.split("/") if part] or [""]
    if not name:
        raise Trouble(Refused(Reason.NOT_A_FILE, f"{path} is a folder, not a file"))
    handle = os.open("/", _HOLD)
    try:
        for folder in folders:
            inner = _enter(handle, folder, made=made)
            os.close(handle)
            handle = inner
        yield handle, name
    finally:
        os.close(handle)


def _enter(handle: int, folder: str, *, made: bool) -> int:
    try:
        return os.open(folder, _HOLD, dir_fd=handle)
    except FileNotFoundError:
        if not made:
            raise
    with suppress(FileExistsError):
        os.mkdir(folder, dir_fd=handle)
    return os.open(folder, _HOLD, dir_fd=handle)


def look(folder: int, name: str) -> os.stat_result | None:
    """What is there, links not followed; None when nothing is."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def require_regular(found: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise Trouble(Refused(Reason.NOT_A_FILE, f"{path} is {kind_of(found.st_mode)}, not a file; nothing was opened"))


def open_regular(folder: int, name: str, path: str, *, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file; anything else is refused by its type before it is opened."""
    found = look(folder, name)
    if found is None:
        raise Trouble(Refused(Reason.MISSING, f"{path} does not exist"))
    require_regular(found, path)
    handle = os.open(name, flags | _CALM, dir_fd=folder)
    try:
        require_regular(os.fstat(handle), path)
    except BaseException:
        os.close(handle)
        raise
    return handle


def read_regular(path: str, limit: int) -> Content:
    with folder_of(path) as (folder, name):
        return read_at(folder, name, path, limit=limit)


def read_at(folder: int, name: str, path: str, *, limit: int | None = None) -> Content:
    handle = open_regular(folder, name, path)
    try:
        return read_open(handle, path, limit)
    finally:
        os.close(handle)


def read_open(handle: int, path: str, limit: int | None = None) -> Content:
    size = os.fstat(handle).st_size
    if limit is not None and size > limit:
        raise Trouble(too_large(path, size, limit))
    chunks: list[bytes] = []
    total = 0
    # Files of /proc say that they are empty, and a log may grow: what counts is what comes.
    while chunk := os.pread(handle, _CHUNK, total):
        chunks.append(chunk)
        total += len(chunk)
        if limit is not None and total > limit:
            raise Trouble(too_large(path, total, limit))
    data = b"".join(chunks)
    return Content(data, sha256(data))


def too_large(path: str, size: int, limit: int) -> Refused:
    message = f"{path} has {size:,} bytes, more than the {limit:,} that file tools take; use shell for a part of it"
    return Refused(Reason.TOO_LARGE, message)


def explained(path: str, error: OSError) -> Refused:
    """An error of the system as a sentence."""
    match error.errno:
        case errno.ENOENT:
            return Refused(Reason.MISSING, f"{path} does not exist")
        case errno.EACCES | errno.EPERM:
            return Refused(Reason.FORBIDDEN, f"{path}: this user may not do that; check the rights of file and folder")
        case errno.ELOOP | errno.ENOTDIR:
            return Refused(Reason.STALE, f"{path}: a part of the path was replaced while it was looked at; try again")
        case errno.ENOSPC | errno.EDQUOT:
            return Refused(Reason.FAILED, f"{path} was not written: the disk is full; free space and try again")
        case errno.EROFS:
            return Refused(Reason.FORBIDDEN, f"{path} is on a file system that is mounted read-only")
        case _:
            return Refused(Reason.FAILED, f"{path}: {error.strerror or 'the system refused'}")
