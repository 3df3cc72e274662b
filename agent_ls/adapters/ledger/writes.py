"""The SQL of everything that changes a SQLite ledger. Each function runs inside a transaction of the writer.

Owns what a commit checks (epoch, receipt) and what it writes (events, indices, effects). Does not begin or end
transactions.
"""

import sqlite3
from dataclasses import dataclass
from typing import Any

from agent_ls.adapters.ledger import codec
from agent_ls.adapters.ledger.places import deleted, key_conflict, newest_text, place_of, stale_epoch, with_seq
from agent_ls.adapters.ledger.reads import receipt as read_receipt
from agent_ls.core.conversation import Conversation
from agent_ls.core.errors import Refusal
from agent_ls.core.events import Event, run_of
from agent_ls.core.request import Request
from agent_ls.ports.ledger import Commit, Committed, Receipt

Connection = sqlite3.Connection


@dataclass(frozen=True)
class Prepared:
    """A commit with its entities encoded, in the order of its facts."""

    commit: Commit
    encoded: tuple[bytes, ...]


def prepare(commit: Commit) -> Prepared:
    return Prepared(commit, tuple(codec.encode(fact.entity) for fact in commit.facts))


def append(db: Connection, prepared: Prepared) -> Committed | Refusal:
    commit = prepared.commit
    owner, epoch, seq, gone = db.execute(_STANDING, {"id": commit.conversation_id}).fetchone()
    if gone:
        return deleted(commit.conversation_id)
    if owner is None or epoch != commit.epoch:
        return stale_epoch(commit.epoch, epoch)
    last = seq + len(commit.facts)
    stored = None
    if commit.receipt is not None:
        stored = with_seq(commit.receipt, last)
        if not _keep_receipt(db, stored):
            known = read_receipt(db, stored.command_id)
            assert known is not None
            if known.conversation_id != commit.conversation_id:
                return key_conflict(stored.command_id)
            return Committed((), seq, known)
    events = [
        Event(commit.conversation_id, seq + n, commit.at, fact.kind, str(fact.name), fact.entity)
        for n, fact in enumerate(commit.facts, start=1)
    ]
    if events:
        _write_events(db, prepared, events)
        _write_current(db, events)
        _write_conversation(db, commit, last)
    _write_effects(db, commit)
    for event, encoded in zip(events, prepared.encoded, strict=True):
        codec.keep_json(event, encoded)
    return Committed(events, last, stored)


def claim(db: Connection, conversation_id: str, owner: str) -> int:
    db.execute(
        "INSERT INTO claim (conversation_id, owner, epoch) VALUES (?, ?, 1)"
        " ON CONFLICT (conversation_id) DO UPDATE SET owner = excluded.owner, epoch = epoch + 1",
        (conversation_id, owner),
    )
    found = db.execute("SELECT epoch FROM claim WHERE conversation_id = ?", (conversation_id,)).fetchone()
    return int(found[0])


def release(db: Connection, conversation_id: str, owner: str) -> None:
    # The row stays, so that no epoch is ever given twice.
    db.execute("UPDATE claim SET owner = NULL WHERE conversation_id = ? AND owner = ?", (conversation_id, owner))


def put_blob(db: Connection, digest: str, content: bytes) -> None:
    db.execute(
        "INSERT INTO blob (digest, size, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (digest, len(content), content),
    )


def delete(db: Connection, *, receipt: Receipt, at: str) -> bool:
    conversation_id = receipt.conversation_id
    found = db.execute("SELECT 1 FROM conversation WHERE conversation_id = ?", (conversation_id,)).fetchone()
    if found is None:
        return False
    db.execute("INSERT INTO tombstone (conversation_id, at) VALUES (?, ?)", (conversation_id, at))
    for table in ("current", "event", "effect", "receipt", "conversation"):
        db.execute(f"DELETE FROM {table} WHERE conversation_id = ?", (conversation_id,))
    db.execute("UPDATE claim SET owner = NULL WHERE conversation_id = ?", (conversation_id,))
    _keep_receipt(db, receipt)
    return True


def begin_instance(db: Connection, boot_id: str, at: str) -> None:
    db.execute("INSERT INTO meta (key, value) VALUES ('instance_id', ?) ON CONFLICT DO NOTHING", (boot_id,))
    db.execute("INSERT INTO meta (key, value) VALUES ('last_number', 0) ON CONFLICT DO NOTHING")
    db.execute(
        "INSERT INTO instance (boot_id, instance_id, started_at)"
        " VALUES (?, (SELECT value FROM meta WHERE key = 'instance_id'), ?)"
        " ON CONFLICT (boot_id) DO UPDATE SET started_at = excluded.started_at, ended_at = NULL",
        (boot_id, at),
    )


def end_instance(db: Connection, boot_id: str, at: str) -> None:
    db.execute("UPDATE claim SET owner = NULL WHERE owner = ?", (boot_id,))
    db.execute("DELETE FROM lease WHERE boot_id = ?", (boot_id,))
    db.execute("UPDATE instance SET ended_at = ? WHERE boot_id = ?", (at, boot_id))


def renew_lease(db: Connection, boot_id: str, ttl_s: float) -> None:
    """The database's clock says when the lease ends, as it is the one that judges it."""
    db.execute(
        "INSERT INTO lease (boot_id, expires_at) VALUES (?, (julianday('now') - 2440587.5) * 86400 + ?)"
        " ON CONFLICT (boot_id) DO UPDATE SET expires_at = excluded.expires_at",
        (boot_id, ttl_s),
    )


def _keep_receipt(db: Connection, receipt: Receipt) -> bool:
    """False if there is one of that id already."""
    if receipt.refusal is not None:
        status, result = "rejected", codec.encode_refusal(receipt.refusal)
    else:
        status, result = "accepted", codec.encode_result(receipt.result or {})
    kept = db.execute(
        "INSERT INTO receipt (command_id, conversation_id, status, result) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (receipt.command_id, receipt.conversation_id, status, result),
    )
    return kept.rowcount == 1


def _write_events(db: Connection, prepared: Prepared, events: list[Event]) -> None:
    commit = prepared.commit
    command = commit.receipt.command_id if commit.receipt else None
    rows = [
        (
            event.conversation_id, event.seq, str(event.kind), event.fact, event.entity.id,
            run_of(event.entity), command, commit.epoch, event.at, encoded.decode(),
        )
        for event, encoded in zip(events, prepared.encoded, strict=True)
    ]  # fmt: skip
    db.executemany("INSERT INTO event VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _write_current(db: Connection, events: list[Event]) -> None:
    """The newest state of each entity; of several facts about one only the last is written."""
    rows: dict[str, tuple[Any, ...]] = {}
    number = 0
    for event in events:
        place, conversation_id = place_of(event.entity), event.conversation_id
        rows[place.entity_id] = (
            place.entity_id, conversation_id, str(place.kind), place.ord, place.state,
            conversation_id, event.seq,
        )  # fmt: skip
        if isinstance(event.entity, Request):
            number = max(number, event.entity.number)
    db.executemany(_UPSERT_CURRENT, rows.values())
    if number:
        db.execute("UPDATE meta SET value = max(value, ?) WHERE key = 'last_number'", (number,))


def _write_conversation(db: Connection, commit: Commit, seq: int) -> None:
    found = [fact.entity for fact in commit.facts if isinstance(fact.entity, Conversation)]
    newest = found[-1] if found else None
    listed = (newest.workspace, newest.title.casefold(), newest.archived) if newest else (None, None, None)
    text = newest_text(fact.entity for fact in commit.facts)
    db.execute(_UPSERT_CONVERSATION, (commit.conversation_id, seq, commit.at, *listed, *text))


def _write_effects(db: Connection, commit: Commit) -> None:
    if commit.effects:
        db.executemany(
            "INSERT INTO effect (effect_id, conversation_id, type, class) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [(e.id, e.conversation_id, str(e.type), str(e.effect_class)) for e in commit.effects],
        )
    if commit.settled:
        db.executemany("DELETE FROM effect WHERE effect_id = ?", [(done,) for done in commit.settled])


_STANDING = """SELECT
    (SELECT owner FROM claim WHERE conversation_id = :id),
    coalesce((SELECT epoch FROM claim WHERE conversation_id = :id), 0),
    coalesce((SELECT seq FROM conversation WHERE conversation_id = :id), 0),
    (SELECT 1 FROM tombstone WHERE conversation_id = :id)"""

_UPSERT_CURRENT = """INSERT INTO current VALUES (?, ?, ?, ?, ?,
        (SELECT id FROM event WHERE conversation_id = ? AND seq = ?))
    ON CONFLICT (entity_id) DO UPDATE SET
    ord = excluded.ord, state = excluded.state, event = excluded.event"""

# Times never go back, so that a cursor of the list stays good when the wall clock is set back.
_UPSERT_CONVERSATION = """INSERT INTO conversation VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (conversation_id) DO UPDATE SET
    seq = excluded.seq, updated = max(updated, excluded.updated),
    workspace = coalesce(excluded.workspace, workspace), title = coalesce(excluded.title, title),
    archived = coalesce(excluded.archived, archived),
    text = CASE WHEN excluded.text_ord >= text_ord THEN excluded.text ELSE text END,
    text_ord = max(text_ord, excluded.text_ord)"""
