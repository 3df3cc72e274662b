"""What this machine brings along, for `agent-ls doctor`: the version of the database engine.

Owns asking for it. Does not own what is good or bad about it (config.doctor).
"""

import sqlite3


def sqlite_version() -> str:
    return sqlite3.sqlite_version
