"""Tables of the SQLite ledger and how an older file becomes a newer one.

Owns the SQL of the schema, its version and the migrations. Does not own what is written into the tables.
"""

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agent_ls.core.errors import Code, Refusal
from agent_ls.ports.ledger import LedgerError


@dataclass(frozen=True)
class Migration:
    """Statements that lead from `version - 1` to `version`, in one transaction."""

    version: int
    statements: Sequence[str]


_TABLES = Migration(
    1,
    (
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
        """CREATE TABLE event (
            id INTEGER PRIMARY KEY, conversation_id TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL,
            fact TEXT NOT NULL, entity_id TEXT NOT NULL, run_id TEXT, command_id TEXT, epoch INTEGER NOT NULL,
            at TEXT NOT NULL, entity TEXT NOT NULL)""",
        "CREATE UNIQUE INDEX event_seq ON event (conversation_id, seq)",
        """CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event
            BEGIN SELECT RAISE(ABORT, 'an event is never changed'); END""",
        # The tombstone is written first, so only the deletion of a whole conversation passes.
        """CREATE TRIGGER event_is_never_removed BEFORE DELETE ON event
            WHEN NOT EXISTS (SELECT 1 FROM tombstone WHERE conversation_id = OLD.conversation_id)
            BEGIN SELECT RAISE(ABORT, 'an event is never removed'); END""",
        # Points to the newest event of the entity: a second copy of it would double what a commit writes.
        """CREATE TABLE current (
            entity_id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, kind TEXT NOT NULL, ord INTEGER NOT NULL,
            state TEXT, event INTEGER NOT NULL) WITHOUT ROWID""",
        "CREATE INDEX current_place ON current (conversation_id, kind, ord)",
        "CREATE INDEX current_state ON current (conversation_id, state) WHERE state IS NOT NULL",
        "CREATE INDEX current_pending ON current (ord) WHERE state = 'pending'",
        "CREATE INDEX current_number ON current (ord) WHERE kind = 'request'",
        # `updated` is the time of the newest commit: what moved last is listed first. No index on it: each would be
        # one more page for every commit to write, and a person has some thousands of these short rows at most.
        """CREATE TABLE conversation (
            conversation_id TEXT PRIMARY KEY, seq INTEGER NOT NULL, updated TEXT NOT NULL, workspace TEXT,
            title TEXT, archived INTEGER, text_ord INTEGER NOT NULL, text TEXT NOT NULL) WITHOUT ROWID""",
        """CREATE TABLE receipt (
            command_id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, status TEXT NOT NULL, result TEXT NOT NULL
            ) WITHOUT ROWID""",
        "CREATE TABLE lease (boot_id TEXT PRIMARY KEY, expires_at REAL NOT NULL) WITHOUT ROWID",
        """CREATE TABLE claim (conversation_id TEXT PRIMARY KEY, owner TEXT, epoch INTEGER NOT NULL) WITHOUT ROWID""",
        """CREATE TABLE effect (
            effect_id TEXT UNIQUE NOT NULL, conversation_id TEXT NOT NULL, type TEXT NOT NULL, class TEXT NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0, available_at TEXT, last_error TEXT,
            position INTEGER PRIMARY KEY AUTOINCREMENT)""",
        "CREATE TABLE blob (digest TEXT PRIMARY KEY, size INTEGER NOT NULL, bytes BLOB NOT NULL)",
        """CREATE TABLE instance (
            boot_id TEXT PRIMARY KEY, instance_id TEXT NOT NULL, started_at TEXT NOT NULL, ended_at TEXT
            ) WITHOUT ROWID""",
        "CREATE TABLE tombstone (conversation_id TEXT PRIMARY KEY, at TEXT NOT NULL) WITHOUT ROWID",
    ),
)

# What is known of each daemon that held the ledger. `position` tells their order whatever the clock said.
_INSTANCES = Migration(
    2,
    (
        "ALTER TABLE instance ADD COLUMN version TEXT",
        "ALTER TABLE instance ADD COLUMN config TEXT",
        "ALTER TABLE instance ADD COLUMN mode TEXT",
        "ALTER TABLE instance ADD COLUMN in_flight TEXT",
        "ALTER TABLE instance ADD COLUMN epoch_first INTEGER",
        "ALTER TABLE instance ADD COLUMN epoch_last INTEGER",
        "ALTER TABLE instance ADD COLUMN position INTEGER NOT NULL DEFAULT 0",
    ),
)

# Beside the blobs: a mark in their own rows would write each of them anew.
_UNUSED_BLOBS: Final = Migration(
    3, ("CREATE TABLE unused_blob (digest TEXT PRIMARY KEY, since REAL NOT NULL) WITHOUT ROWID",)
)

# Where the conversation stood when the effect was begun again: whether anything came of it.
_ATTEMPTS: Final = Migration(4, ("ALTER TABLE effect ADD COLUMN seq INTEGER",))

# Where a fork's history lies, nearest first. `former` is where an entity of a source stood while a fork saw it like
# that, from event `since` until event `until`: a row comes only when a source changes what a fork has of it.
_LINEAGE: Final = Migration(
    5,
    (
        """CREATE TABLE lineage (
            conversation_id TEXT NOT NULL, depth INTEGER NOT NULL, source TEXT NOT NULL, seq INTEGER NOT NULL,
            through INTEGER NOT NULL, PRIMARY KEY (conversation_id, depth)) WITHOUT ROWID""",
        "CREATE INDEX lineage_source ON lineage (source, seq)",
        """CREATE TABLE former (
            conversation_id TEXT NOT NULL, kind TEXT NOT NULL, ord INTEGER NOT NULL, entity_id TEXT NOT NULL,
            since INTEGER NOT NULL, until INTEGER NOT NULL, event INTEGER NOT NULL,
            PRIMARY KEY (conversation_id, kind, ord, entity_id, since)) WITHOUT ROWID""",
    ),
)

MIGRATIONS: Final = (_TABLES, _INSTANCES, _UNUSED_BLOBS, _ATTEMPTS, _LINEAGE)


def refuse_newer(path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Looks before anything is opened for writing: a ledger of a newer agent-ls is left exactly as it is."""
    if not path.exists() or path.stat().st_size == 0:
        return
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        found = version_of(connection)
    finally:
        connection.close()
    known = migrations[-1].version
    if found > known:
        raise LedgerError(
            Refusal(
                Code.SCHEMA_TOO_NEW,
                f"The ledger has schema {found}, this agent-ls knows schema {known} at most.",
                "Install the newer agent-ls that wrote it; nothing was changed.",
                {"found": found, "known": known},
            )
        )


def migrate(connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Brings the file to the newest schema; may be killed anywhere and run again."""
    is_new = version_of(connection) == 0
    for migration in migrations:
        found = version_of(connection)
        if found >= migration.version:
            continue
        if not is_new:
            _back_up(connection, path.with_name(f"{path.name}.schema{found}.backup"))
        _run(connection, migration)


def version_of(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _run(connection: sqlite3.Connection, migration: Migration) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Somebody else may have been faster while this waited for the lock.
        if version_of(connection) < migration.version:
            for statement in migration.statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {migration.version:d}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _back_up(connection: sqlite3.Connection, target: Path) -> None:
    """A whole copy beside the file; an unfinished one has another name and is made anew."""
    draft = target.with_name(target.name + ".part")
    draft.unlink(missing_ok=True)
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    copy = sqlite3.connect(draft, isolation_level=None)
    try:
        connection.backup(copy)
    finally:
        copy.close()
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    draft.replace(target)
