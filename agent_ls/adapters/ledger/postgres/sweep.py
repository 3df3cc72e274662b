"""Finding and removing blobs which no event refers to any more, while other daemons go on putting some.

Owns what counts as a reference and the marks. A put takes the mark away before it looks whether the blob is there, so a
blob that is put again is either kept or written anew.
"""

from collections.abc import Collection
from typing import Final

from agent_ls.adapters.ledger.postgres.links import Connection
from agent_ls.wire import blobs

PAGE: Final = 500


async def digests(db: Connection) -> set[str]:
    return {row[0] for row in await db.fetch("SELECT digest FROM blob")}


async def waiting(db: Connection) -> set[str]:
    """What commands refer to that no daemon has decided yet."""
    rows = await db.fetch("SELECT payload FROM inbox")
    return {digest for row in rows for digest in blobs.possible(row[0].encode())}


async def referred(db: Connection, *, after: tuple[str, int]) -> tuple[set[str], tuple[str, int] | None]:
    """What one page of events may refer to, and where the next page begins."""
    rows = await db.fetch(_PAGE, *after, PAGE)
    found = {digest for row in rows for digest in blobs.possible(row[2])}
    return found, (rows[-1][0], rows[-1][1]) if rows else None


async def remove(db: Connection, *, unused: Collection[str], grace_s: float) -> int:
    async with db.transaction():
        wanted = list(unused)
        await db.execute("DELETE FROM unused_blob WHERE NOT digest = ANY($1::text[])", wanted)
        await db.execute(_MARK, wanted)
        gone = [row[0] for row in await db.fetch(_UNUSED, grace_s)]
        await db.execute("DELETE FROM blob WHERE digest = ANY($1::text[])", gone)
    return len(gone)


async def put(db: Connection, digest: str, content: bytes) -> None:
    async with db.transaction():
        # Waits for a sweep that has this blob in hand; the insert after it sees what the sweep has left.
        await db.execute("DELETE FROM unused_blob WHERE digest = $1", digest)
        await db.execute(_PUT, digest, len(content), content)


_PAGE: Final = """SELECT conversation_id, seq, entity FROM event WHERE (conversation_id, seq) > ($1, $2)
    ORDER BY conversation_id, seq LIMIT $3"""

_MARK: Final = """INSERT INTO unused_blob (digest, since) SELECT n, clock_timestamp() FROM unnest($1::text[]) AS n
    ORDER BY n ON CONFLICT DO NOTHING"""

_UNUSED: Final = """DELETE FROM unused_blob
    WHERE since <= clock_timestamp() - make_interval(secs => $1) RETURNING digest"""

_PUT: Final = "INSERT INTO blob (digest, size, bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
