"""The SQL of the record of daemons in a SQLite ledger.

Owns the rows of `instance`. Each function runs inside a transaction of the writer or the reader.
"""

import json
import sqlite3
from collections.abc import Sequence

from agent_ls.ports.instances import Instance

Connection = sqlite3.Connection


def begin(db: Connection, *, boot_id: str, version: str, config: str, at: str) -> None:
    db.execute("INSERT INTO meta (key, value) VALUES ('instance_id', ?) ON CONFLICT DO NOTHING", (boot_id,))
    db.execute("INSERT INTO meta (key, value) VALUES ('last_number', 0) ON CONFLICT DO NOTHING")
    db.execute(
        "INSERT INTO instance (boot_id, instance_id, version, config, started_at, position)"
        " VALUES (?, (SELECT value FROM meta WHERE key = 'instance_id'), ?, ?, ?,"
        " (SELECT coalesce(max(position), 0) + 1 FROM instance))"
        " ON CONFLICT (boot_id) DO UPDATE SET"
        " version = excluded.version, config = excluded.config, started_at = excluded.started_at, ended_at = NULL",
        (boot_id, version, config, at),
    )


def claimed(db: Connection, boot_id: str, epoch: int) -> None:
    db.execute(
        "UPDATE instance SET epoch_first = min(coalesce(epoch_first, ?1), ?1),"
        " epoch_last = max(coalesce(epoch_last, ?1), ?1) WHERE boot_id = ?2",
        (epoch, boot_id),
    )


def end(db: Connection, *, boot_id: str, at: str, mode: str | None, in_flight: Sequence[str]) -> None:
    # What was left on purpose is not held against it.
    db.execute(
        "UPDATE effect SET attempts = 0, seq = NULL, available_at = NULL, last_error = NULL"
        " WHERE conversation_id IN (SELECT conversation_id FROM claim WHERE owner = ?)",
        (boot_id,),
    )
    db.execute("UPDATE claim SET owner = NULL WHERE owner = ?", (boot_id,))
    db.execute("DELETE FROM lease WHERE boot_id = ?", (boot_id,))
    db.execute(
        "UPDATE instance SET ended_at = ?, mode = ?, in_flight = ? WHERE boot_id = ?",
        (at, mode, json.dumps(list(in_flight)), boot_id),
    )


def newest(db: Connection, limit: int) -> tuple[str, list[Instance]]:
    row = db.execute("SELECT value FROM meta WHERE key = 'instance_id'").fetchone()
    found = db.execute(
        "SELECT boot_id, version, config, started_at, ended_at, mode, in_flight, epoch_first, epoch_last FROM instance"
        " ORDER BY position DESC, started_at DESC LIMIT ?",
        (max(0, limit),),
    )
    return str(row[0]) if row else "", [_instance(each) for each in found]


def _instance(row: Sequence[object]) -> Instance:
    boot_id, version, config, started_at, ended_at, mode, in_flight, first, last = row
    return Instance(
        boot_id=str(boot_id),
        version=str(version or ""),
        config=str(config or ""),
        started_at=str(started_at),
        ended_at=None if ended_at is None else str(ended_at),
        mode=None if mode is None else str(mode),
        in_flight=tuple(json.loads(str(in_flight))) if in_flight else (),
        epochs=(first, last) if isinstance(first, int) and isinstance(last, int) else None,
    )
