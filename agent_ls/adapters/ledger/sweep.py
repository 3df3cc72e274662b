"""The SQL that finds and removes blobs which no event refers to any more, for SQLite.

Owns what counts as a reference (anything that could be a digest, so that a newer version's are safe) and the marks.
Does not own threads nor when it is done.
"""

import sqlite3
from collections.abc import Collection
from typing import Final

from agent_ls.wire import blobs

Connection = sqlite3.Connection
PAGE: Final = 500


def digests(db: Connection) -> set[str]:
    return {row[0] for row in db.execute("SELECT digest FROM blob")}


def referred(db: Connection, *, after: int) -> tuple[set[str], int | None]:
    """What one page of events may refer to, and where the next page begins."""
    rows = db.execute("SELECT id, entity FROM event WHERE id > ? ORDER BY id LIMIT ?", (after, PAGE)).fetchall()
    found = {digest for _, entity in rows for digest in blobs.possible(entity.encode())}
    return found, rows[-1][0] if rows else None


def remove(db: Connection, *, unused: Collection[str], grace_s: float) -> int:
    """Marks what is unused now, takes the mark from the rest, and removes what was marked before."""
    marked = {row[0] for row in db.execute("SELECT digest FROM unused_blob")}
    db.executemany("DELETE FROM unused_blob WHERE digest = ?", [(digest,) for digest in marked - set(unused)])
    db.executemany(
        f"INSERT INTO unused_blob (digest, since) VALUES (?, {_NOW}) ON CONFLICT DO NOTHING",
        [(digest,) for digest in unused],
    )
    rows = db.execute(f"DELETE FROM unused_blob WHERE since <= {_NOW} - ? RETURNING digest", (grace_s,)).fetchall()
    db.executemany("DELETE FROM blob WHERE digest = ?", rows)
    return len(rows)


# As a lease: the database's clock judges what it has written.
_NOW: Final = "(julianday('now') - 2440587.5) * 86400"
