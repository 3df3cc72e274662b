"""Replacing what a file holds: all of it or nothing, and never over somebody else's change.

Owns the way from bytes to disk: written beside and swapped in, or in place where a swap would lose a hard link, an
owner, an access list or a mount. Does not own what the bytes are. Everything here blocks; files.py gives it a thread.
"""

import errno
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass

from agent_ls.adapters.host import swap, writers
from agent_ls.adapters.host.attributes import Different, take_over
from agent_ls.adapters.host.opened import Trouble, folder_of, look, open_regular, read_at, read_open
from agent_ls.core.textfile import sha256
from agent_ls.ports.files import ABSENT, Reason, Refused, Replaced

# What a rename cannot do here and overwriting may: no new names in the folder, a mount on the file.
_NOT_BESIDE = frozenset({errno.EACCES, errno.EPERM, errno.EBUSY, errno.EXDEV})
# Pauses: a program that opened the file before it was displaced writes and closes, as a rule within the first.
_PATIENCE = 100


@dataclass(frozen=True)
class Renames:
    """The calls of the system; tests let another writer in between them."""

    exchange: Callable[[int, str, str], None] = swap.exchange
    rename_new: Callable[[int, str, str], None] = swap.rename_new
    pause: Callable[[], None] = writers.pause


@dataclass(frozen=True)
class _Target:
    folder: int
    name: str
    beside: str
    path: str


def replace(path: str, data: bytes, *, expected: str, token: str, renames: Renames) -> Replaced:
    """Raises Trouble or OSError; success is told only after the disk was read back."""
    with folder_of(path, made=expected == ABSENT) as (folder, name):
        target = _Target(folder, name, beside_name(token), path)
        why: str | None = None
        if expected == ABSENT:
            _create(target, data, renames)
        else:
            why = _overwrite(target, data, expected=expected, renames=renames)
        _read_back(target, data)
        return Replaced(digest=sha256(data), in_place=why)


def remove(path: str, *, expected: str, token: str, renames: Renames) -> Replaced:
    """Raises Trouble or OSError. What turns out to be another text than expected gets its name back."""
    with folder_of(path) as (folder, name):
        target = _Target(folder, name, beside_name(token), path)
        if _digest(target, name) != expected:
            raise Trouble(_stale(path))
        _discard(target)
        _set_aside(target, renames)
        why_not = _why_not(target, expected, renames)
        if why_not is not None:
            _bring_back(target, renames)
            raise Trouble(why_not)
        _discard(target)
        _sync_folder(folder)
        return Replaced(digest=ABSENT)


def reclaim(path: str, *, before: str, after: str, token: str, renames: Renames) -> str:
    """After a crash: what was left beside the file is removed, or put back when it is somebody else's text."""
    try:
        with folder_of(path) as (folder, name):
            target = _Target(folder, name, beside_name(token), path)
            there = _digest(target, name)
            if look(folder, target.beside) is None:
                return there
            if there == after == ABSENT and _digest(target, target.beside) != before:
                # It was being removed, and turned out to be somebody else's text.
                _bring_back(target, renames)
                return _digest(target, name)
            # The file holds our text, so what is beside it is what the swap displaced.
            if there == after and before != ABSENT and _digest(target, target.beside) != before:
                renames.exchange(folder, target.beside, name)
                there = _digest(target, name)
            os.unlink(target.beside, dir_fd=folder)
            return there
    except FileNotFoundError:
        return ABSENT


def beside_name(token: str) -> str:
    """Derived, so that a successor finds it; hidden, so that few tools list it."""
    return f".agent-ls-{sha256(token.encode('utf-8', 'replace'))[:16]}.tmp"


def _create(target: _Target, data: bytes, renames: Renames) -> None:
    if look(target.folder, target.name) is not None:
        raise Trouble(_stale(target.path))
    _write_beside(target, data, mode=0o666)
    try:
        try:
            renames.rename_new(target.folder, target.beside, target.name)
        except swap.Unsupported:
            _link_new(target)
    except FileExistsError:
        raise Trouble(_stale(target.path)) from None
    finally:
        _discard(target)
    _sync_folder(target.folder)


def _link_new(target: _Target) -> None:
    try:
        os.link(target.beside, target.name, src_dir_fd=target.folder, dst_dir_fd=target.folder, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links: the look a moment ago has to do.
        if look(target.folder, target.name) is not None:
            raise FileExistsError(errno.EEXIST, "exists", target.name) from None
        os.rename(target.beside, target.name, src_dir_fd=target.folder, dst_dir_fd=target.folder)


def _set_aside(target: _Target, renames: Renames) -> None:
    _rename(target.folder, target.name, target.beside, renames=renames)


def _bring_back(target: _Target, renames: Renames) -> None:
    try:
        _rename(target.folder, target.beside, target.name, renames=renames)
    except FileExistsError:
        raise Trouble(_changed_twice(target)) from None


def _rename(folder: int, name: str, new: str, *, renames: Renames) -> None:
    try:
        renames.rename_new(folder, name, new)
    except swap.Unsupported:
        os.rename(name, new, src_dir_fd=folder, dst_dir_fd=folder)


def _overwrite(target: _Target, data: bytes, *, expected: str, renames: Renames) -> str | None:
    """Why it was done in place; None when it was swapped."""
    handle = open_regular(target.folder, target.name, target.path)
    try:
        if read_open(handle, target.path).digest != expected:
            raise Trouble(_stale(target.path))
        if not os.access(target.name, os.W_OK, dir_fd=target.folder, effective_ids=True):
            message = f"{target.path} is read-only; make it writable first, if that is meant"
            raise Trouble(Refused(Reason.FORBIDDEN, message))
        if os.fstat(handle).st_nlink > 1:
            why: str | None = "it has other hard links, which still share its content"
        else:
            why = _swapped(target, data, handle=handle, expected=expected, renames=renames)
    finally:
        os.close(handle)
    if why is not None:
        _in_place(target, data, expected)
    return why


def _swapped(target: _Target, data: bytes, *, handle: int, expected: str, renames: Renames) -> str | None:
    """Why it could not be swapped; None when it was."""
    try:
        _write_beside(target, data, mode=0o600, like=handle)
    except Different as different:
        _discard(target)
        return f"its {different.what} cannot be given to a new file"
    except OSError as error:
        _discard(target)
        if error.errno in _NOT_BESIDE:
            return "its folder takes no new files"
        raise
    try:
        _swap_in(target, sha256(data), expected=expected, renames=renames)
    except OSError as error:
        _discard(target)
        if error.errno in _NOT_BESIDE:
            return "its name cannot be given to another file (it may be a mount)"
        raise
    _sync_folder(target.folder)
    return None


def _swap_in(target: _Target, ours: str, *, expected: str, renames: Renames) -> None:
    try:
        renames.exchange(target.folder, target.beside, target.name)
    except swap.Unsupported:
        if _digest(target, target.name) != expected:
            _discard(target)
            raise Trouble(_stale(target.path)) from None
        os.replace(target.beside, target.name, src_dir_fd=target.folder, dst_dir_fd=target.folder)
        return
    why_not = _why_not(target, expected, renames)
    if why_not is None:
        _discard(target)
        return
    # Somebody wrote between our look and the swap, or still writes: theirs goes back to its place.
    renames.exchange(target.folder, target.beside, target.name)
    if _digest(target, target.beside) != ours:
        raise Trouble(_changed_twice(target))
    _discard(target)
    raise Trouble(why_not)


def _why_not(target: _Target, expected: str, renames: Renames) -> Refused | None:
    """Why what was displaced must have its name back: it is another text, or more is being written to it."""
    if _digest(target, target.beside) != expected:
        return _stale(target.path)
    handle = open_regular(target.folder, target.beside, target.path)
    try:
        for _ in range(_PATIENCE):
            if not writers.present(handle):
                return None if read_open(handle, target.path).digest == expected else _stale(target.path)
            renames.pause()
    finally:
        os.close(handle)
    return _being_written(target.path)


def _in_place(target: _Target, data: bytes, expected: str) -> None:
    handle = open_regular(target.folder, target.name, target.path, flags=os.O_RDWR)
    try:
        if read_open(handle, target.path).digest != expected:
            raise Trouble(_stale(target.path))
        _write_all(handle, data)
        os.ftruncate(handle, len(data))
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_beside(target: _Target, data: bytes, *, mode: int, like: int | None = None) -> None:
    """`like`: the open file whose owner, mode and attributes the new one takes."""
    _discard(target)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(target.beside, flags, mode, dir_fd=target.folder)
    try:
        _write_all(handle, data)
        if like is not None:
            take_over(like, handle)
        os.fsync(handle)
    except BaseException:
        _discard(target)
        raise
    finally:
        os.close(handle)


def _write_all(handle: int, data: bytes) -> None:
    done = 0
    view = memoryview(data)
    while done < len(data):
        done += os.pwrite(handle, view[done:], done)


def _read_back(target: _Target, data: bytes) -> None:
    if _digest(target, target.name) != sha256(data):
        message = f"{target.path} was written, but something else changed it at once; read it to see what it holds"
        raise Trouble(Refused(Reason.UNKNOWN, message))


def _digest(target: _Target, name: str) -> str:
    found = look(target.folder, name)
    if found is None:
        return ABSENT
    if not stat.S_ISREG(found.st_mode):
        return "not a file"
    return read_at(target.folder, name, target.path).digest


def _discard(target: _Target) -> None:
    try:
        os.unlink(target.beside, dir_fd=target.folder)
    except FileNotFoundError:
        return


def _sync_folder(folder: int) -> None:
    handle = -1
    try:
        handle = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        os.fsync(handle)
    except OSError:
        # A folder that may not be listed or a file system that cannot sync one: the file itself is synced.
        return
    finally:
        if handle != -1:
            os.close(handle)


def _changed_twice(target: _Target) -> Refused:
    message = f"{target.path} was changed twice meanwhile; the earlier text is kept beside it as {target.beside}"
    return Refused(Reason.STALE, message)


def _being_written(path: str) -> Refused:
    message = f"another program has {path} open for writing, nothing was written; try again when it has closed it"
    return Refused(Reason.STALE, message)


def _stale(path: str) -> Refused:
    return Refused(Reason.STALE, f"{path} changed meanwhile, nothing was written; read it again")
