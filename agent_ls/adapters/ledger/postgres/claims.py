"""Who may write: claims on conversations; and the deletion of one.

Owns the SQL and the rule when a claim may be taken from its owner. The database's clock alone says whether a lease has
ended. Does not own leases (instances.py).
"""

from dataclasses import dataclass
from typing import Final

from agent_ls.adapters.ledger.places import held_elsewhere
from agent_ls.adapters.ledger.plan import TAKEN_UP, receipt_row
from agent_ls.adapters.ledger.postgres.links import Connection
from agent_ls.adapters.ledger.postgres.statements import CHANNEL
from agent_ls.core.errors import Refusal
from agent_ls.ports.ledger import Receipt


@dataclass(frozen=True)
class Claimed:
    """`reclaimed`: taken from an owner whose lease had ended."""

    epoch: int
    reclaimed: bool = False


async def claim(db: Connection, conversation_id: str, owner: str) -> Claimed | Refusal:
    async with db.transaction():
        await db.execute(
            "INSERT INTO conversation (conversation_id) VALUES ($1) ON CONFLICT DO NOTHING", conversation_id
        )
        held = await db.fetchval(
            "SELECT owner FROM conversation WHERE conversation_id = $1 FOR UPDATE", conversation_id
        )
        other = held is not None and held != owner
        # Asked after the lock: whoever released or renewed meanwhile has done it.
        left_s = await db.fetchval(_LEFT, held) if other else None
        if left_s is not None and left_s > 0:
            return held_elsewhere(conversation_id, held, float(left_s))
        epoch = await db.fetchval(
            "UPDATE conversation SET owner = $2, epoch = epoch + 1 WHERE conversation_id = $1 RETURNING epoch",
            conversation_id,
            owner,
        )
        await db.execute(_RECORD, owner, epoch)
        await db.execute(_TAKE_UP, conversation_id, TAKEN_UP)
    return Claimed(int(epoch), reclaimed=other)


async def owner(db: Connection, conversation_id: str) -> str | None:
    found: str | None = await db.fetchval(_OWNER, conversation_id)
    return found


async def held(db: Connection, owner: str) -> dict[str, int]:
    rows = await db.fetch("SELECT conversation_id, epoch FROM conversation WHERE owner = $1", owner)
    return {row[0]: row[1] for row in rows}


async def unheld(db: Connection, besides: str) -> tuple[list[str], float | None]:
    rows = await db.fetch(_OWING, besides)
    lasting = [float(row[1]) for row in rows if row[1] is not None and row[1] > 0]
    return [row[0] for row in rows if row[1] is None or row[1] <= 0], min(lasting, default=None)


async def release(db: Connection, conversation_id: str, owner: str) -> None:
    # The row stays, so that no epoch is ever given twice.
    await db.execute(
        "UPDATE conversation SET owner = NULL WHERE conversation_id = $1 AND owner = $2", conversation_id, owner
    )


async def delete(db: Connection, receipt: Receipt, at: str, *, boot_id: str) -> bool:
    """False if there is no such conversation. The one that this very command deleted counts as deleted by it."""
    id_ = receipt.conversation_id
    async with db.transaction():
        seq = await db.fetchval("SELECT seq FROM conversation WHERE conversation_id = $1 FOR UPDATE", id_)
        if not seq:
            return False
        await db.execute(_BURY, id_, at)
        for table in ("current", "event", "effect", "receipt", "inbox", "partial"):
            await db.execute(f"DELETE FROM {table} WHERE conversation_id = $1", id_)
        await db.execute(
            "INSERT INTO receipt (command_id, conversation_id, status, result) VALUES ($1, $2, $3, $4)"
            " ON CONFLICT DO NOTHING",
            *receipt_row(receipt),
        )
        await db.execute("SELECT pg_notify($1, $2)", CHANNEL, f"{boot_id} {id_}")
    return True


_LEFT: Final = "SELECT extract(epoch FROM expires_at - clock_timestamp()) FROM lease WHERE boot_id = $1"

_OWNER: Final = """SELECT c.owner FROM conversation c JOIN lease l ON l.boot_id = c.owner
    WHERE c.conversation_id = $1 AND l.expires_at > clock_timestamp()"""

_OWING: Final = """SELECT c.conversation_id, extract(epoch FROM l.expires_at - clock_timestamp())
    FROM (SELECT conversation_id FROM effect UNION SELECT conversation_id FROM inbox) o
    JOIN conversation c ON c.conversation_id = o.conversation_id LEFT JOIN lease l ON l.boot_id = c.owner
    WHERE c.owner IS DISTINCT FROM $1 AND c.deleted_at IS NULL ORDER BY c.conversation_id"""

# Whoever claims takes up what is owed there.
_TAKE_UP: Final = "UPDATE effect SET attempts = attempts + 1, last_error = $2 WHERE conversation_id = $1"

_RECORD: Final = """UPDATE instance SET epoch_first = least(epoch_first, $2), epoch_last = greatest(epoch_last, $2)
    WHERE boot_id = $1"""

_BURY: Final = """UPDATE conversation SET owner = NULL, seq = 0, updated = '', workspace = NULL, title = NULL,
    archived = NULL, text_ord = -1, text = '', deleted_at = $2 WHERE conversation_id = $1"""
