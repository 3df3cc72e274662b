"""The SQL of everything that changes a SQLite ledger. Each function runs inside a transaction of the writer.

Owns what a commit checks (epoch, receipt) and what it writes (events, indices, effects). Does not begin or end
transactions.
"""

import sqlite3
from collections.abc import Sequence

from agent_ls.adapters.ledger import forks, instances
from agent_ls.adapters.ledger.places import key_conflict
from agent_ls.adapters.ledger.plan import (
    Prepared,
    Standing,
    highest_number,
    keep_bytes,
    listing,
    newest_places,
    planned,
    receipt_row,
    text_of,
)
from agent_ls.adapters.ledger.reads import receipt as read_receipt
from agent_ls.core.effects import Effect
from agent_ls.core.errors import Refusal
from agent_ls.core.events import Event, run_of
from agent_ls.ports.ledger import Commit, Committed, Receipt

Connection = sqlite3.Connection


def append(db: Connection, prepared: Prepared) -> Committed | Refusal:
    commit = prepared.commit
    owner, epoch, seq, gone, kept = db.execute(_STANDING, {"id": commit.conversation_id}).fetchone()
    base = forks.base_seq(db, commit.base)
    plan = planned(commit, Standing(owner, epoch, seq, bool(gone), base))
    if isinstance(plan, Refusal):
        return plan
    if plan.receipt is not None and not _keep_receipt(db, plan.receipt):
        known = read_receipt(db, plan.receipt.command_id)
        assert known is not None
        if known.conversation_id != commit.conversation_id:
            return key_conflict(known.command_id)
        return Committed((), seq, known)
    if commit.base is not None:
        forks.begin(db, commit.conversation_id, commit.base, seq=base)
    if plan.events:
        _write_events(db, prepared, plan.events)
        if kept:
            forks.keep_former(db, newest_places(plan.events), kept=kept)
        _write_current(db, commit.conversation_id, plan.events)
        _write_conversation(db, commit, plan.seq)
    _write_effects(db, commit)
    keep_bytes(prepared, plan.events)
    return Committed(plan.events, plan.seq, plan.receipt)


def claim(db: Connection, conversation_id: str, owner: str) -> int:
    db.execute(
        "INSERT INTO claim (conversation_id, owner, epoch) VALUES (?, ?, 1)"
        " ON CONFLICT (conversation_id) DO UPDATE SET owner = excluded.owner, epoch = epoch + 1",
        (conversation_id, owner),
    )
    found = db.execute("SELECT epoch FROM claim WHERE conversation_id = ?", (conversation_id,)).fetchone()
    epoch = int(found[0])
    instances.claimed(db, owner, epoch)
    return epoch


def take_up(db: Connection, effect: Effect, epoch: int) -> bool:
    done = db.execute(
        "UPDATE effect SET attempts = ?, seq = ?, available_at = ?, last_error = ? WHERE effect_id = ?"
        " AND EXISTS (SELECT 1 FROM claim WHERE conversation_id = ? AND epoch = ?)",
        (
            effect.attempts, effect.seq, effect.available_at, effect.last_error, effect.id,
            effect.conversation_id, epoch,
        ),
    )  # fmt: skip
    return done.rowcount == 1


def release(db: Connection, conversation_id: str, owner: str) -> None:
    # The row stays, so that no epoch is ever given twice.
    db.execute("UPDATE claim SET owner = NULL WHERE conversation_id = ? AND owner = ?", (conversation_id, owner))


def put_blob(db: Connection, digest: str, content: bytes) -> None:
    db.execute("DELETE FROM unused_blob WHERE digest = ?", (digest,))
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
    forks.forget(db, conversation_id)
    for table in ("effect", "receipt", "conversation"):
        db.execute(f"DELETE FROM {table} WHERE conversation_id = ?", (conversation_id,))
    db.execute("UPDATE claim SET owner = NULL WHERE conversation_id = ?", (conversation_id,))
    _keep_receipt(db, receipt)
    return True


def renew_lease(db: Connection, boot_id: str, ttl_s: float) -> None:
    """The database's clock says when the lease ends, as it is the one that judges it."""
    db.execute(
        "INSERT INTO lease (boot_id, expires_at) VALUES (?, (julianday('now') - 2440587.5) * 86400 + ?)"
        " ON CONFLICT (boot_id) DO UPDATE SET expires_at = excluded.expires_at",
        (boot_id, ttl_s),
    )


def _keep_receipt(db: Connection, receipt: Receipt) -> bool:
    """False if there is one of that id already."""
    kept = db.execute(
        "INSERT INTO receipt (command_id, conversation_id, status, result) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        receipt_row(receipt),
    )
    return kept.rowcount == 1


def _write_events(db: Connection, prepared: Prepared, events: Sequence[Event]) -> None:
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


def _write_current(db: Connection, conversation_id: str, events: Sequence[Event]) -> None:
    rows = [
        (place.entity_id, conversation_id, str(place.kind), place.ord, place.state, conversation_id, seq)
        for place, seq in newest_places(events)
    ]
    db.executemany(_UPSERT_CURRENT, rows)
    if number := highest_number(events):
        db.execute("UPDATE meta SET value = max(value, ?) WHERE key = 'last_number'", (number,))


def _write_conversation(db: Connection, commit: Commit, seq: int) -> None:
    new = listing(commit)
    row = (commit.conversation_id, seq, commit.at, new.workspace, new.title, new.archived, *text_of(commit))
    db.execute(_UPSERT_CONVERSATION, row)


def _write_effects(db: Connection, commit: Commit) -> None:
    if commit.effects:
        db.executemany(
            "INSERT INTO effect (effect_id, conversation_id, type, class, attempts) VALUES (?, ?, ?, ?, 1)"
            " ON CONFLICT DO NOTHING",
            [(e.id, e.conversation_id, str(e.type), str(e.effect_class)) for e in commit.effects],
        )
    if commit.settled:
        db.executemany("DELETE FROM effect WHERE effect_id = ?", [(done,) for done in commit.settled])


_STANDING = """SELECT
    (SELECT owner FROM claim WHERE conversation_id = :id),
    coalesce((SELECT epoch FROM claim WHERE conversation_id = :id), 0),
    coalesce((SELECT seq FROM conversation WHERE conversation_id = :id), 0),
    (SELECT 1 FROM tombstone WHERE conversation_id = :id),
    coalesce((SELECT max(seq) FROM lineage WHERE source = :id), 0)"""

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
