"""What the daemon's own shells could read of the daemon: the environment it was started with, and its memory.

Owns that the values of secrets are gone from the block that the system shows as /proc/PID/environ, and that processes
of the same person cannot look into this one. Linux only. Does not own what children are given (workspaces); a process
of root with the right to trace can still read memory (docs/security.md).
"""

import ctypes
import logging
import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from agent_ls.core.masking import holds_secret

PR_SET_DUMPABLE: Final = 4
_START_FIELD: Final = 47  # env_start and env_end of /proc/self/stat, counted behind the name
_LARGEST: Final = 4 * 1024 * 1024

log = logging.getLogger(__name__)


def keep_private(environ: Mapping[str, str], named: Collection[str]) -> bool:
    """To be called once, before any thread; whether the block was cleared. `named`: variables that hold keys."""
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    secret = {name for name, value in environ.items() if name in named or holds_secret(name, value)}
    for name in secret & os.environ.keys():
        # A copy in memory of our own: the block is about to lose it.
        os.environ[name] = os.environ[name]
    return _clear({os.fsencode(name) for name in secret})


def _clear(secret: Collection[bytes]) -> bool:
    try:
        fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
        start, end = int(fields[_START_FIELD]), int(fields[_START_FIELD + 1])
    except (OSError, ValueError, IndexError):
        start = end = 0
    if not 0 < start < end or end - start > _LARGEST:
        log.warning("the environment the daemon was started with cannot be cleared")
        return False
    place = start
    for entry in ctypes.string_at(start, end - start).split(b"\0"):
        name, equals, value = entry.partition(b"=")
        if equals and value and name in secret:
            ctypes.memset(place + len(name) + 1, ord("x"), len(value))
        place += len(entry) + 1
    return True
