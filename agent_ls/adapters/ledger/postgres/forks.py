"""The SQL of forks in a PostgreSQL ledger: what one has from other conversations, and what those keep for it.

Owns how the tables `lineage` and `former` are read, and what is removed from them; they are written with every other
row of a commit (statements.py). A fork's rows of `lineage` come in its first commit and never change, and neither does
what it sees through them: several statements see the same.
"""

from collections.abc import Sequence
from typing import Final

from agent_ls.adapters.ledger import codec
from agent_ls.adapters.ledger.postgres.links import Connection
from agent_ls.adapters.ledger.strands import Row, Strand, companions, elsewhere, needed, whole
from agent_ls.core.events import AnyEntity
from agent_ls.core.items import Item
from agent_ls.core.lineage import as_own


async def of(db: Connection, conversation_id: str) -> list[Strand]:
    """Nearest first; none for what is no fork."""
    rows = await db.fetch(
        "SELECT source, seq, through FROM lineage WHERE conversation_id = $1 ORDER BY depth", conversation_id
    )
    return [Strand(*row) for row in rows]


async def layer(db: Connection, strand: Strand) -> list[AnyEntity]:
    rows = await db.fetch(f"SELECT kind, entity FROM ({_SEEN}) s", strand.source, strand.seq)
    return [codec.decode(kind, entity) for kind, entity in rows]


async def newest(db: Connection, strand: Strand, *, before: int, limit: int) -> list[Item]:
    """The last `limit` items before a place."""
    rows = await db.fetch(_PAGE, strand.source, strand.seq, strand.end(before), limit)
    return [codec.decode_as(Item, entity) for _, entity in rows]


async def find(db: Connection, entity_id: str) -> AnyEntity | None:
    """What a fork has under this id and has not changed itself."""
    conversation_id = entity_id.partition(".")[0]
    given = await of(db, conversation_id) if conversation_id != entity_id else []
    near = [(strand, await _some(db, strand, [entity_id])) for strand in given]
    first = next((as_own(entity, conversation_id) for _, found in near for entity in found), None)
    if first is None:
        return None
    others = companions(first)
    if others is None:
        layers = [(strand, await layer(db, strand)) for strand in given]
    else:
        layers = [(strand, await _some(db, strand, [entity_id, *others])) for strand in given]
    return next((each for each in whole((), layers, conversation_id) if each.id == entity_id), None)


async def forget(db: Connection, conversation_id: str) -> None:
    """Of a conversation that is being deleted, and marked as such: all events that no fork needs.

    With the last fork goes what its sources kept for it.
    """
    sources = sorted({strand.source for strand in await of(db, conversation_id)})
    await _prune(db, conversation_id, is_fork=bool(sources))
    await db.execute("DELETE FROM lineage WHERE conversation_id = $1", conversation_id)
    for source in sources:
        # Its row is waited for: a fork that is just being made of it, or its own deletion.
        if await db.fetchval(_GONE, source):
            await _prune(db, source, is_fork=True)


async def _prune(db: Connection, source: str, *, is_fork: bool) -> None:
    looked_at = await db.fetch("SELECT DISTINCT source, seq, through FROM lineage WHERE source = $1", source)
    keep: set[int] = set()
    for strand in [Strand(*row) for row in looked_at]:
        rows = await db.fetch(f"SELECT event, kind, ord, run_id FROM ({_SEEN}) s", strand.source, strand.seq)
        keep |= needed((Row(*row) for row in rows), strand, is_fork=is_fork)
    for table, key in (("current", "seq"), ("former", "since"), ("event", "seq")):
        await db.execute(
            f"DELETE FROM {table} WHERE conversation_id = $1 AND {key} NOT IN (SELECT unnest($2::bigint[]))",
            source,
            sorted(keep),
        )


async def _some(db: Connection, strand: Strand, entity_ids: Sequence[str]) -> list[AnyEntity]:
    """Those that the source has, by the ids of the fork."""
    rows = await db.fetch(_SOME, strand.source, strand.seq, [elsewhere(each, strand) for each in entity_ids])
    return [codec.decode(kind, entity) for kind, entity in rows]


_FROM_CURRENT: Final = """FROM current p JOIN event e ON e.conversation_id = p.conversation_id AND e.seq = p.seq
    WHERE p.conversation_id = $1 AND p.seq <= $2"""

_FROM_FORMER: Final = """FROM former p JOIN event e ON e.conversation_id = p.conversation_id AND e.seq = p.since
    WHERE p.conversation_id = $1 AND p.since <= $2 AND p.until > $2"""

_COLUMNS: Final = "p.kind, p.ord, e.seq AS event, e.run_id, e.entity"

_SEEN: Final = f"SELECT {_COLUMNS} {_FROM_CURRENT} UNION ALL SELECT {_COLUMNS} {_FROM_FORMER}"

_NEWEST: Final = " AND p.kind = 'item' AND p.ord < $3 ORDER BY p.ord DESC LIMIT $4"

_PAGE: Final = f"""SELECT ord, entity FROM (
        (SELECT p.ord, e.entity {_FROM_CURRENT}{_NEWEST}) UNION ALL (SELECT p.ord, e.entity {_FROM_FORMER}{_NEWEST})) s
    ORDER BY ord DESC LIMIT $4"""

_SOME: Final = f"""SELECT p.kind, e.entity {_FROM_CURRENT} AND p.entity_id = ANY($3::text[])
    UNION ALL SELECT p.kind, e.entity {_FROM_FORMER} AND p.entity_id = ANY($3::text[])"""

_GONE: Final = "SELECT deleted_at IS NOT NULL FROM conversation WHERE conversation_id = $1 FOR UPDATE"
