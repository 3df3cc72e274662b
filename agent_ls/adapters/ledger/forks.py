"""The SQL of forks in a SQLite ledger: what one has from other conversations, and what those keep for it.

Owns the tables `lineage` and `former`. A source is read as it was when the fork was made: what it has changed since is
found in `former`. Does not own what comes along (core.lineage) nor transactions.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator

from agent_ls.adapters.ledger import codec
from agent_ls.adapters.ledger.places import Place
from agent_ls.adapters.ledger.strands import Row, Strand, companions, elsewhere, needed, strands, whole
from agent_ls.core.events import AnyEntity
from agent_ls.core.items import Item
from agent_ls.core.lineage import Base, as_own

Connection = sqlite3.Connection


def of(db: Connection, conversation_id: str) -> list[Strand]:
    """Nearest first; none for what is no fork."""
    rows = db.execute(
        "SELECT source, seq, through FROM lineage WHERE conversation_id = ? ORDER BY depth", (conversation_id,)
    )
    return [Strand(*row) for row in rows]


def layer(db: Connection, strand: Strand) -> Iterator[AnyEntity]:
    rows = db.execute(f"SELECT kind, CAST(entity AS BLOB) FROM ({_SEEN})", _seen_by(strand))
    return (codec.decode(kind, entity) for kind, entity in rows)


def newest(db: Connection, strand: Strand, *, before: int, limit: int) -> list[Item]:
    """The last `limit` items before a place."""
    seen = {**_seen_by(strand), "before": strand.end(before), "limit": limit}
    found = [row for query in (_PAGE_CURRENT, _PAGE_FORMER) for row in db.execute(query, seen)]
    found.sort(key=lambda row: row[0], reverse=True)
    return [codec.decode_as(Item, entity) for _, entity in found[:limit]]


def find(db: Connection, entity_id: str) -> AnyEntity | None:
    """What a fork has under this id and has not changed itself."""
    conversation_id = entity_id.partition(".")[0]
    given = of(db, conversation_id) if conversation_id != entity_id else []
    near = [(strand, _some(db, strand, [entity_id])) for strand in given]
    first = next((as_own(entity, conversation_id) for _, found in near for entity in found), None)
    if first is None:
        return None
    others = companions(first)
    wanted = None if others is None else [entity_id, *others]
    layers = ((strand, layer(db, strand) if wanted is None else _some(db, strand, wanted)) for strand in given)
    return next((each for each in whole((), layers, conversation_id) if each.id == entity_id), None)


def base_seq(db: Connection, base: Base | None) -> int:
    """Where the one stands that is to be gone on from; 0 if there is none."""
    if base is None:
        return 0
    row = db.execute("SELECT seq FROM conversation WHERE conversation_id = ?", (base.conversation_id,)).fetchone()
    return int(row[0]) if row else 0


def begin(db: Connection, conversation_id: str, base: Base, *, seq: int) -> None:
    made = strands(base, seq, of(db, base.conversation_id))
    db.executemany(
        "INSERT INTO lineage (conversation_id, depth, source, seq, through) VALUES (?, ?, ?, ?, ?)",
        [(conversation_id, depth, each.source, each.seq, each.through) for depth, each in enumerate(made)],
    )


def keep_former(db: Connection, changed: Iterable[tuple[Place, int]], *, kept: int) -> None:
    """Before `current` moves on: where those stood that a fork sees. `kept`: up to which event forks look."""
    db.executemany(_KEEP_FORMER, [{"entity": place.entity_id, "until": seq, "kept": kept} for place, seq in changed])


def forget(db: Connection, conversation_id: str) -> None:
    """Of a conversation that is being deleted, and whose tombstone stands: all events that no fork needs.

    With the last fork goes what its sources kept for it.
    """
    sources = {strand.source for strand in of(db, conversation_id)}
    is_fork = bool(sources)
    _prune(db, conversation_id, is_fork=is_fork)
    db.execute("DELETE FROM lineage WHERE conversation_id = ?", (conversation_id,))
    for source in sources:
        if db.execute("SELECT 1 FROM tombstone WHERE conversation_id = ?", (source,)).fetchone():
            _prune(db, source, is_fork=True)


def _prune(db: Connection, source: str, *, is_fork: bool) -> None:
    looked_at = db.execute("SELECT DISTINCT source, seq, through FROM lineage WHERE source = ?", (source,))
    keep: set[int] = set()
    for strand in [Strand(*row) for row in looked_at]:
        rows = db.execute(f"SELECT event, kind, ord, run_id FROM ({_SEEN})", _seen_by(strand))
        keep |= needed((Row(*row) for row in rows), strand, is_fork=is_fork)
    for table, key in (("current", "event"), ("former", "event"), ("event", "id")):
        db.execute(
            f"DELETE FROM {table} WHERE conversation_id = ? AND {key} NOT IN (SELECT value FROM json_each(?))",
            (source, json.dumps(sorted(keep))),
        )


def _seen_by(strand: Strand) -> dict[str, object]:
    return {"source": strand.source, "seq": strand.seq}


def _some(db: Connection, strand: Strand, entity_ids: Iterable[str]) -> list[AnyEntity]:
    """Those that the source has, by the ids of the fork."""
    found = (
        db.execute(_ONE, {**_seen_by(strand), "entity": elsewhere(each, strand)}).fetchone() for each in entity_ids
    )
    return [codec.decode(*row) for row in found if row is not None]


_FROM_CURRENT = """FROM current p JOIN event e ON e.id = p.event
    WHERE p.conversation_id = :source AND e.seq <= :seq"""

_FROM_FORMER = """FROM former p JOIN event e ON e.id = p.event
    WHERE p.conversation_id = :source AND p.since <= :seq AND p.until > :seq"""

_COLUMNS = "p.entity_id, p.kind, p.ord, p.event, e.run_id, e.entity"

_SEEN = f"SELECT {_COLUMNS} {_FROM_CURRENT} UNION ALL SELECT {_COLUMNS} {_FROM_FORMER}"

_NEWEST = " AND p.kind = 'item' AND p.ord < :before ORDER BY p.ord DESC LIMIT :limit"

_PAGE_CURRENT = f"SELECT p.ord, CAST(e.entity AS BLOB) {_FROM_CURRENT}{_NEWEST}"

_PAGE_FORMER = f"SELECT p.ord, CAST(e.entity AS BLOB) {_FROM_FORMER}{_NEWEST}"

_ONE = f"""SELECT p.kind, CAST(e.entity AS BLOB) {_FROM_CURRENT} AND p.entity_id = :entity
    UNION ALL SELECT p.kind, CAST(e.entity AS BLOB) {_FROM_FORMER} AND p.entity_id = :entity"""

_KEEP_FORMER = """INSERT INTO former (conversation_id, kind, ord, entity_id, since, until, event)
    SELECT p.conversation_id, p.kind, p.ord, p.entity_id, e.seq, :until, p.event
    FROM current p JOIN event e ON e.id = p.event WHERE p.entity_id = :entity AND e.seq <= :kept"""
