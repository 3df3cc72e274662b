"""renameat2 of Linux: two names exchanged at once, or a rename that replaces nothing.

Owns the system call. Where it is missing, `exchange` and `rename_new` raise Unsupported and change nothing.
"""

import ctypes
import errno
import os
import sys
from functools import cache
from typing import Any

_NOREPLACE = 1
_EXCHANGE = 2
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP})


class Unsupported(Exception):
    """The system or this file system cannot do it."""


def exchange(folder: int, left: str, right: str) -> None:
    """Both names of the folder must exist."""
    _rename(folder, left, right, flags=_EXCHANGE)


def rename_new(folder: int, source: str, target: str) -> None:
    """FileExistsError when there is something at `target`."""
    _rename(folder, source, target, flags=_NOREPLACE)


def _rename(folder: int, source: str, target: str, *, flags: int) -> None:
    call = _renameat2()
    if call is None:
        raise Unsupported
    if call(folder, os.fsencode(source), folder, os.fsencode(target), flags) == 0:
        return
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        raise Unsupported
    raise OSError(code, os.strerror(code), target)


@cache
def _renameat2() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is not None:
        call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
        call.restype = ctypes.c_int
    return call
