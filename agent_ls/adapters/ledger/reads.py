"""The SQL of everything that only looks. Each function runs in one short read transaction, never behind a write.

Owns the queries and what they cost: what is asked for, not what there is. Does not own threads or connections.
"""

import sqlite3
from collections.abc import Sequence
from functools import partial

from agent_ls.adapters.ledger import codec, forks
from agent_ls.adapters.ledger.places import (
    in_order,
    list_cursor,
    read_list_cursor,
    read_page_cursor,
)
from agent_ls.adapters.ledger.places import (
    summary as make_summary,
)
from agent_ls.adapters.ledger.plan import receipt_of
from agent_ls.adapters.ledger.strands import page as make_page
from agent_ls.adapters.ledger.strands import whole
from agent_ls.core.conversation import Conversation
from agent_ls.core.effects import Effect, EffectClass, EffectType
from agent_ls.core.events import AnyEntity, Event
from agent_ls.core.ids import SUBAGENT
from agent_ls.core.items import Item
from agent_ls.core.request import Request
from agent_ls.ports.ledger import ListQuery, Page, Receipt, Snapshot, Summary

Connection = sqlite3.Connection


def load(db: Connection, conversation_id: str) -> Snapshot | None:
    seq = _seq(db, conversation_id)
    if seq is None:
        return None
    rows = db.execute(f"{_NEWEST} WHERE current.conversation_id = ?", (conversation_id,))
    own = [codec.decode(kind, entity) for kind, entity in rows]
    given = forks.of(db, conversation_id)
    found = whole(own, ((strand, forks.layer(db, strand)) for strand in given), conversation_id) if given else own
    return Snapshot(in_order(found), seq)


def head(db: Connection, conversation_id: str) -> Snapshot | None:
    seq = _seq(db, conversation_id)
    if seq is None:
        return None
    rows = db.execute(
        f"{_NEWEST} WHERE current.entity_id = :id"
        f" UNION ALL {_NEWEST} WHERE current.conversation_id = :id AND current.state IS NOT NULL",
        {"id": conversation_id},
    )
    return Snapshot(in_order(codec.decode(kind, entity) for kind, entity in rows), seq)


def events(db: Connection, conversation_id: str, *, after: int, limit: int) -> Sequence[Event]:
    rows = db.execute(
        "SELECT seq, at, kind, fact, CAST(entity AS BLOB) FROM event WHERE conversation_id = ? AND seq > ?"
        " ORDER BY seq LIMIT ?",
        (conversation_id, after, max(0, limit)),
    )
    return [codec.stored_event(conversation_id, row) for row in rows]


def page(db: Connection, conversation_id: str, *, before: str | None, limit: int) -> Page:
    limit = max(1, limit)
    end = read_page_cursor(before)
    rows = db.execute(
        "SELECT CAST(event.entity AS BLOB) FROM current JOIN event ON event.id = current.event"
        " WHERE current.conversation_id = ? AND current.kind = 'item' AND current.ord < ?"
        " ORDER BY current.ord DESC LIMIT ?",
        (conversation_id, end, limit + 1),
    ).fetchall()
    if _seq(db, conversation_id) is None:
        return Page([], None)
    given = forks.of(db, conversation_id) if len(rows) <= limit else []
    layers = (forks.newest(db, strand, before=end, limit=limit + 1) for strand in given)
    return make_page([codec.decode_as(Item, row[0]) for row in rows], layers, conversation_id, limit=limit)


def find(db: Connection, entity_id: str) -> AnyEntity | None:
    row = db.execute(f"{_NEWEST} WHERE current.entity_id = ? AND {_LISTED}", (entity_id,)).fetchone()
    return forks.find(db, entity_id) if row is None else codec.decode(*row)


def conversations(db: Connection, query: ListQuery) -> tuple[Sequence[Summary], str | None]:
    limit = max(1, query.limit)
    where = ["archived = ?", "substr(conversation_id, 1, length(?)) <> ?"]
    parameters: list[object] = [query.archived, SUBAGENT, SUBAGENT]
    if query.workspace is not None:
        where.append("workspace = ?")
        parameters.append(query.workspace)
    if query.query:
        where.append("instr(title, ?) > 0")
        parameters.append(query.query.casefold())
    if query.cursor is not None:
        where.append("(updated, conversation_id) < (?, ?)")
        parameters.extend(read_list_cursor(query.cursor))
    rows = db.execute(
        f"SELECT conversation_id, updated FROM conversation WHERE {' AND '.join(where)}"
        " ORDER BY updated DESC, conversation_id DESC LIMIT ?",
        (*parameters, limit + 1),
    ).fetchall()
    shown = rows[:limit]
    found = codec.readable((partial(summary, db, conversation_id) for conversation_id, _ in shown))
    return found, list_cursor(shown[-1][1], shown[-1][0]) if len(rows) > limit else None


def summary(db: Connection, conversation_id: str) -> Summary | None:
    row = db.execute(_SUMMARY, {"id": conversation_id}).fetchone()
    if row is None or row[2] is None:
        return None
    seq, text, entity = row
    states = dict(
        db.execute(
            "SELECT state, count(*) FROM current WHERE conversation_id = ? AND state IS NOT NULL GROUP BY state",
            (conversation_id,),
        )
    )
    conversation = codec.decode_as(Conversation, entity)
    return make_summary(conversation, seq, text.decode(errors="replace"), states=states)


def requests(db: Connection, workspace: str | None, conversation_id: str | None) -> Sequence[Request]:
    rows = db.execute(
        f"{_NEWEST} WHERE current.state = 'pending'"
        " AND (:conversation IS NULL OR current.conversation_id = :conversation)"
        " AND (:workspace IS NULL OR current.conversation_id IN"
        "      (SELECT conversation_id FROM conversation WHERE workspace = :workspace))"
        " ORDER BY current.ord, current.entity_id",
        {"workspace": workspace, "conversation": conversation_id},
    )
    return codec.readable(partial(codec.decode_as, Request, entity) for _, entity in rows)


def request_by_number(db: Connection, number: int) -> Request | None:
    row = db.execute(
        f"{_NEWEST} WHERE current.kind = 'request' AND current.ord = ? AND {_LISTED}", (number,)
    ).fetchone()
    return codec.decode_as(Request, row[1]) if row else None


def receipt(db: Connection, command_id: str) -> Receipt | None:
    row = db.execute(
        "SELECT conversation_id, status, CAST(result AS BLOB) FROM receipt WHERE command_id = ?", (command_id,)
    ).fetchone()
    if row is None:
        return None
    return receipt_of(command_id, row[0], row[1], result=row[2])


def owed(db: Connection) -> Sequence[Effect]:
    rows = db.execute(
        "SELECT effect_id, conversation_id, type, class, attempts, last_error, seq, available_at FROM effect"
        " ORDER BY position"
    )
    return [Effect(row[0], row[1], EffectType(row[2]), EffectClass(row[3]), *row[4:]) for row in rows]


def blob(db: Connection, digest: str) -> bytes | None:
    row = db.execute("SELECT bytes FROM blob WHERE digest = ?", (digest,)).fetchone()
    return row[0] if row else None


def last_number(db: Connection) -> int:
    row = db.execute("SELECT value FROM meta WHERE key = 'last_number'").fetchone()
    return int(row[0]) if row else 0


def counts(db: Connection) -> dict[str, int]:
    """Events, conversations and pending requests. Each conversation is gapless, so the sum of seqs counts events."""
    row = db.execute(
        "SELECT coalesce(sum(seq), 0), count(*), (SELECT count(*) FROM current WHERE state = 'pending')"
        " FROM conversation"
    ).fetchone()
    return dict(zip(("events", "conversations", "pending"), row, strict=True))


def _seq(db: Connection, conversation_id: str) -> int | None:
    row = db.execute("SELECT seq FROM conversation WHERE conversation_id = ?", (conversation_id,)).fetchone()
    return int(row[0]) if row else None


# As bytes: whether they are text is found out where it can be said what they were.
_NEWEST = "SELECT current.kind, CAST(event.entity AS BLOB) FROM current JOIN event ON event.id = current.event"

# What was deleted and is kept for its forks is found by nobody else.
_LISTED = "EXISTS (SELECT 1 FROM conversation c WHERE c.conversation_id = current.conversation_id)"

_SUMMARY = """SELECT seq, CAST(text AS BLOB),
    (SELECT CAST(event.entity AS BLOB) FROM current JOIN event ON event.id = current.event
        WHERE current.entity_id = :id)
    FROM conversation WHERE conversation_id = :id"""
