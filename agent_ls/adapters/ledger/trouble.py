"""What can go wrong with a database file, as a refusal that says what to do.

Owns the table from SQLite's errors to ours. Does not decide what is tried again (writer.py).
"""

import errno
import os
import sqlite3
from pathlib import Path

from agent_ls.adapters.ledger.codec import damaged
from agent_ls.core.errors import Code, Refusal
from agent_ls.ports.ledger import LedgerError

_PRIMARY = 0xFF
_LITTLE = 1 << 20
_PLENTY = 1 << 40


def is_full(error: BaseException, path: Path) -> bool:
    """No space left; some I/O errors of SQLite mean nothing else."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    match _code(error):
        case sqlite3.SQLITE_FULL:
            return True
        case sqlite3.SQLITE_IOERR:
            return free_bytes(path) < _LITTLE
        case _:
            return False


def ledger_error(error: BaseException, path: Path) -> LedgerError:
    if isinstance(error, LedgerError):
        return error
    return LedgerError(disk_full(path) if is_full(error, path) else _unavailable(error, path))


def disk_full(path: Path) -> Refusal:
    return Refusal(
        Code.DISK_FULL,
        f"There is no space left for the ledger in {path.parent}.",
        "Free some space there, then do this again; nothing that was acknowledged is lost.",
    )


def gone(path: Path) -> Refusal:
    return Refusal(
        Code.LEDGER_UNAVAILABLE,
        f"The ledger {path} was moved or deleted while the daemon ran, so nothing more can be kept in it.",
        "Put it back, or run `agent-ls restart` to go on with what is there now.",
    )


def free_bytes(path: Path) -> int:
    """Space for us on the disk of the ledger; plenty where the system does not say."""
    try:
        found = os.statvfs(path.parent)
    except OSError:
        return _PLENTY
    return found.f_bavail * found.f_frsize


def _unavailable(error: BaseException, path: Path) -> Refusal:
    if str(error).startswith("Could not decode to UTF-8"):
        # Its words quote what is stored.
        return damaged("value")
    match _code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            message = "Another program keeps the ledger locked."
            hint = f"Close what has {path} open, then try again."
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            message = f"The ledger {path} cannot be opened for writing."
            hint = "Make its folder writable for you, or set AGENT_LS_STATE_DIR to a folder that is."
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            message = f"The ledger {path} is damaged or is not a ledger."
            hint = "Move it aside (keep it) and start again, or put a backup in its place."
        case _:
            message = f"The ledger {path} cannot be used: {error}."
            hint = "Look at `agent-ls doctor`, then try again."
    return Refusal(Code.LEDGER_UNAVAILABLE, message, hint)


def _code(error: BaseException) -> int | None:
    code = getattr(error, "sqlite_errorcode", None)
    return code & _PRIMARY if isinstance(code, int) else None
