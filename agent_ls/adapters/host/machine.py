"""What this machine is made of, for `agent-ls doctor`: version of the database engine, mounted file systems.

Owns asking for it. Does not own what is good or bad about it (config.doctor).
"""

import sqlite3
from pathlib import Path


def sqlite_version() -> str:
    return sqlite3.sqlite_version


def mounts() -> str:
    """Lines `device mountpoint type …` as Linux gives them; empty where there is no such list."""
    try:
        return Path("/proc/self/mounts").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
