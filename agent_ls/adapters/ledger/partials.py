"""Text in flight, kept beside the ledger so that it never costs a commit. May be lost; never read as a fact."""

import sqlite3
from contextlib import suppress
from functools import partial
from pathlib import Path

from agent_ls.adapters.ledger.files import make_private
from agent_ls.adapters.ledger.handover import Line
from agent_ls.ports.ledger import LedgerError


class Partials:
    """A database of its own without any sync, opened when first needed."""

    def __init__(self, path: Path) -> None:
        self._line = Line("ledger-partials", path, partial(_open, path))

    def keep(self, conversation_id: str, item_id: str, text: str) -> None:
        safe = text.encode("utf-8", "replace").decode()
        self._line.post(lambda db: db.execute(_KEEP, (conversation_id, item_id, safe)))

    async def of(self, conversation_id: str) -> dict[str, str]:
        query = "SELECT item_id, text FROM partial WHERE conversation_id = ?"
        try:
            return await self._line.run(lambda db: dict(db.execute(query, (conversation_id,))))
        except LedgerError:
            # A full disk must not keep anybody from looking; text in flight is allowed to be lost.
            return {}

    async def drop(self, conversation_id: str) -> None:
        with suppress(LedgerError):
            await self._line.run(
                lambda db: db.execute("DELETE FROM partial WHERE conversation_id = ?", (conversation_id,))
            )

    async def close(self) -> None:
        await self._line.close()


def _open(path: Path) -> sqlite3.Connection:
    try:
        return _connect(path)
    except sqlite3.DatabaseError:
        # Unsynced, so a power cut may have damaged it; there is nothing in it that anybody relies on.
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        return _connect(path)


def _connect(path: Path) -> sqlite3.Connection:
    make_private(path)
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        # A log, although unsynced: without one a kill in mid-write would leave half a page.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(_TABLE)
    except sqlite3.Error:
        with suppress(sqlite3.Error):
            connection.close()
        raise
    return connection


_TABLE = """CREATE TABLE IF NOT EXISTS partial (
    conversation_id TEXT NOT NULL, item_id TEXT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (conversation_id, item_id)) WITHOUT ROWID"""

_KEEP = """INSERT INTO partial VALUES (?, ?, ?)
    ON CONFLICT (conversation_id, item_id) DO UPDATE SET text = excluded.text"""
