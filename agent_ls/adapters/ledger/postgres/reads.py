"""The SQL of everything that only looks. Each is one statement, so that it sees one state, and costs what is asked for.

Owns the queries. Does not own connections. A conversation without events is one that was claimed and never begun.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from agent_ls.adapters.ledger import codec
from agent_ls.adapters.ledger.places import (
    in_order,
    list_cursor,
    read_list_cursor,
    read_page_cursor,
)
from agent_ls.adapters.ledger.places import summary as make_summary
from agent_ls.adapters.ledger.plan import receipt_of
from agent_ls.adapters.ledger.postgres import forks
from agent_ls.adapters.ledger.postgres.links import Connection
from agent_ls.adapters.ledger.strands import page as make_page
from agent_ls.adapters.ledger.strands import whole
from agent_ls.core.conversation import Conversation
from agent_ls.core.effects import Effect, EffectClass, EffectType
from agent_ls.core.events import AnyEntity, Event
from agent_ls.core.ids import SUBAGENT
from agent_ls.core.items import Item
from agent_ls.core.request import Request
from agent_ls.ports.ledger import ListQuery, Page, Receipt, Snapshot, Summary


async def load(db: Connection, conversation_id: str) -> Snapshot | None:
    """Of a fork in several statements: what it has from others does not change."""
    own = _snapshot(await db.fetch(_LOAD, conversation_id))
    given = [] if own is None else await forks.of(db, conversation_id)
    if own is None or not given:
        return own
    layers = [(strand, await forks.layer(db, strand)) for strand in given]
    return Snapshot(in_order(whole(own.entities, layers, conversation_id)), own.seq)


async def head(db: Connection, conversation_id: str) -> Snapshot | None:
    return _snapshot(await db.fetch(_HEAD, conversation_id))


async def events(db: Connection, conversation_id: str, *, after: int, limit: int) -> Sequence[Event]:
    rows = await db.fetch(_EVENTS, conversation_id, after, max(0, limit))
    return [codec.stored_event(conversation_id, row) for row in rows]


async def page(db: Connection, conversation_id: str, *, before: str | None, limit: int) -> Page:
    limit = max(1, limit)
    end = read_page_cursor(before)
    rows = await db.fetch(_PAGE, conversation_id, end, limit + 1)
    given = await forks.of(db, conversation_id) if len(rows) <= limit else []
    layers = [await forks.newest(db, strand, before=end, limit=limit + 1) for strand in given]
    return make_page([codec.decode_as(Item, row[0]) for row in rows], layers, conversation_id, limit=limit)


async def find(db: Connection, entity_id: str) -> AnyEntity | None:
    row = await db.fetchrow(f"{_NEWEST} WHERE p.entity_id = $1 AND {_LISTED}", entity_id)
    return await forks.find(db, entity_id) if row is None else codec.decode(*row)


async def conversations(db: Connection, query: ListQuery) -> tuple[Sequence[Summary], str | None]:
    limit = max(1, query.limit)
    where = ["archived = $1", "NOT starts_with(conversation_id, $2)"]
    parameters: list[object] = [query.archived, SUBAGENT]
    if query.workspace is not None:
        parameters.append(query.workspace)
        where.append(f"workspace = ${len(parameters)}")
    if query.query:
        parameters.append(query.query.casefold().encode("utf-8", "replace"))
        where.append(f"position(${len(parameters)} in title) > 0")
    if query.cursor is not None:
        parameters.extend(read_list_cursor(query.cursor))
        where.append(f"(updated, conversation_id) < (${len(parameters) - 1}, ${len(parameters)})")
    wanted = (
        f"SELECT * FROM conversation WHERE {' AND '.join(where)}"
        f" ORDER BY updated DESC, conversation_id DESC LIMIT {limit + 1:d}"
    )
    rows = await db.fetch(_LIST.format(wanted=wanted), *parameters)
    shown = rows[:limit]
    cursor = list_cursor(shown[-1]["updated"], shown[-1]["conversation_id"]) if len(rows) > limit else None
    return codec.readable(partial(_summary, row) for row in shown), cursor


async def summary(db: Connection, conversation_id: str) -> Summary | None:
    row = await db.fetchrow(
        _LIST.format(wanted="SELECT * FROM conversation WHERE conversation_id = $1 AND seq > 0"), conversation_id
    )
    return _summary(row) if row else None


async def requests(db: Connection, workspace: str | None, conversation_id: str | None) -> Sequence[Request]:
    where = ["p.state = 'pending'"]
    parameters: list[str] = []
    if conversation_id is not None:
        parameters.append(conversation_id)
        where.append(f"p.conversation_id = ${len(parameters)}")
    if workspace is not None:
        parameters.append(workspace)
        where.append(
            "p.conversation_id IN (SELECT c.conversation_id FROM conversation c"
            f" WHERE c.workspace = ${len(parameters)})"
        )
    rows = await db.fetch(f"{_NEWEST} WHERE {' AND '.join(where)} ORDER BY p.ord, p.entity_id", *parameters)
    return codec.readable(partial(codec.decode_as, Request, entity) for _, entity in rows)


async def request_by_number(db: Connection, number: int) -> Request | None:
    row = await db.fetchrow(f"{_NEWEST} WHERE p.kind = 'request' AND p.ord = $1 AND {_LISTED}", number)
    return codec.decode_as(Request, row[1]) if row else None


async def receipts(db: Connection, command_ids: Sequence[str]) -> dict[str, Receipt]:
    rows = await db.fetch(
        "SELECT command_id, conversation_id, status, result FROM receipt WHERE command_id = ANY($1::text[])",
        list(command_ids),
    )
    return {row[0]: receipt_of(row[0], row[1], row[2], result=row[3]) for row in rows}


async def owed(db: Connection) -> Sequence[Effect]:
    rows = await db.fetch(
        "SELECT effect_id, conversation_id, type, class, attempts, last_error, seq, available_at FROM effect"
        " ORDER BY position"
    )
    return [Effect(row[0], row[1], EffectType(row[2]), EffectClass(row[3]), *tuple(row)[4:]) for row in rows]


async def blob(db: Connection, digest: str) -> bytes | None:
    found: bytes | None = await db.fetchval("SELECT bytes FROM blob WHERE digest = $1", digest)
    return found


async def partials(db: Connection, conversation_id: str) -> dict[str, str]:
    rows = await db.fetch(_PARTIALS, conversation_id)
    return {item_id: text.decode(errors="replace") for item_id, text in rows}


async def counts(db: Connection) -> dict[str, int]:
    """Events, conversations, pending requests, bytes. Each conversation is gapless: its seq counts its events."""
    return dict(await db.fetchrow(_COUNTS))


def _snapshot(rows: Sequence[Any]) -> Snapshot | None:
    if not rows:
        return None
    found = [codec.decode(kind, entity) for _, kind, entity in rows if kind is not None]
    return Snapshot(in_order(found), rows[0][0])


def _summary(row: Any) -> Summary:
    conversation = codec.decode_as(Conversation, row["entity"])
    return make_summary(conversation, row["seq"], row["text"].decode(errors="replace"), states=Counter(row["states"]))


_EVENT_OF_PLACE = "event e ON e.conversation_id = p.conversation_id AND e.seq = p.seq"

_NEWEST = f"SELECT p.kind, e.entity FROM current p JOIN {_EVENT_OF_PLACE}"

# What was deleted and is kept for its forks is found by nobody else.
_LISTED = "EXISTS (SELECT 1 FROM conversation c WHERE c.conversation_id = p.conversation_id AND c.deleted_at IS NULL)"

_LOAD = f"""SELECT c.seq, p.kind, e.entity FROM conversation c
    LEFT JOIN current p ON p.conversation_id = c.conversation_id LEFT JOIN {_EVENT_OF_PLACE}
    WHERE c.conversation_id = $1 AND c.seq > 0"""

_HEAD = f"""SELECT c.seq, n.kind, n.entity FROM conversation c LEFT JOIN LATERAL (
        {_NEWEST} WHERE p.entity_id = c.conversation_id
        UNION ALL {_NEWEST} WHERE p.conversation_id = c.conversation_id AND p.state IS NOT NULL) n ON true
    WHERE c.conversation_id = $1 AND c.seq > 0"""

# What is committed is not in flight any more.
_PARTIALS = """SELECT item_id, text FROM partial p WHERE conversation_id = $1
    AND NOT EXISTS (SELECT 1 FROM current WHERE entity_id = p.item_id)"""

_EVENTS = """SELECT seq, at, kind, fact, entity FROM event
    WHERE conversation_id = $1 AND seq > $2 ORDER BY seq LIMIT $3"""

_PAGE = f"""SELECT e.entity FROM current p JOIN {_EVENT_OF_PLACE}
    WHERE {_LISTED} AND p.conversation_id = $1 AND p.kind = 'item' AND p.ord < $2 ORDER BY p.ord DESC LIMIT $3"""

_LIST = f"""SELECT c.conversation_id, c.updated, c.seq, c.text, e.entity,
        ARRAY(SELECT state FROM current s WHERE s.conversation_id = c.conversation_id AND s.state IS NOT NULL) AS states
    FROM ({{wanted}}) c JOIN current p ON p.entity_id = c.conversation_id JOIN {_EVENT_OF_PLACE}
    ORDER BY c.updated DESC, c.conversation_id DESC"""

_COUNTS = """SELECT (SELECT coalesce(sum(seq), 0)::bigint FROM conversation) AS events,
    (SELECT count(*) FROM conversation WHERE seq > 0) AS conversations,
    (SELECT count(*) FROM current WHERE state = 'pending') AS pending,
    (SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r') AS bytes"""
