"""Who may write: claims on conversations; and the deletion of one.

Owns the SQL and the rule when a claim may be taken from its owner. Does not own leases (instances.py) nor when one has
ended (leases.py).
"""

from dataclasses import dataclass
from typing import Final

from agent_ls.adapters.ledger.places import held_elsewhere
from agent_ls.adapters.ledger.plan import receipt_row
from agent_ls.adapters.ledger.postgres import forks
from agent_ls.adapters.ledger.postgres.leases import COLUMNS, Leases
from agent_ls.adapters.ledger.postgres.links import Connection
from agent_ls.adapters.ledger.postgres.statements import CHANNEL
from agent_ls.core.effects import Effect
from agent_ls.core.errors import Refusal
from agent_ls.ports.ledger import Receipt


@dataclass(frozen=True)
class Claimed:
    """`reclaimed`: taken from an owner whose lease had ended."""

    epoch: int
    reclaimed: bool = False


async def claim(db: Connection, conversation_id: str, owner: str, *, leases: Leases) -> Claimed | Refusal:
    async with db.transaction():
        await db.execute(
            "INSERT INTO conversation (conversation_id) VALUES ($1) ON CONFLICT DO NOTHING", conversation_id
        )
        held = await db.fetchval(
            "SELECT owner FROM conversation WHERE conversation_id = $1 FOR UPDATE", conversation_id
        )
        other = held is not None and held != owner
        # Asked after the lock: whoever released or renewed meanwhile has done it.
        left_s = await leases.left_of(db, held) if other else 0.0
        if left_s > 0:
            return held_elsewhere(conversation_id, held, left_s)
        epoch = await db.fetchval(
            "UPDATE conversation SET owner = $2, epoch = epoch + 1 WHERE conversation_id = $1 RETURNING epoch",
            conversation_id,
            owner,
        )
        await db.execute(_RECORD, owner, epoch)
    return Claimed(int(epoch), reclaimed=other)


async def take_up(db: Connection, effect: Effect, epoch: int) -> bool:
    account = (effect.attempts, effect.seq, effect.available_at, effect.last_error)
    return await db.fetchval(_TAKE_UP, effect.id, effect.conversation_id, epoch, *account) is not None


async def owner(db: Connection, conversation_id: str, *, leases: Leases) -> str | None:
    found = await db.fetchrow(_OWNER, conversation_id)
    return found[0] if found is not None and leases.left_s(found) > 0 else None


async def held(db: Connection, owner: str) -> dict[str, int]:
    rows = await db.fetch("SELECT conversation_id, epoch FROM conversation WHERE owner = $1", owner)
    return {row[0]: row[1] for row in rows}


async def unheld(db: Connection, besides: str, *, leases: Leases) -> tuple[list[str], float | None]:
    rows = await db.fetch(_OWING, besides)
    left = {row["owing"]: leases.left_s(row) if row[0] is not None else 0.0 for row in rows}
    return [known for known, s in left.items() if s <= 0], min((s for s in left.values() if s > 0), default=None)


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
        await forks.forget(db, id_)
        for table in ("effect", "receipt", "inbox", "partial"):
            await db.execute(f"DELETE FROM {table} WHERE conversation_id = $1", id_)
        await db.execute(
            "INSERT INTO receipt (command_id, conversation_id, status, result) VALUES ($1, $2, $3, $4)"
            " ON CONFLICT DO NOTHING",
            *receipt_row(receipt),
        )
        await db.execute("SELECT pg_notify($1, $2)", CHANNEL, f"{boot_id} {id_}")
    return True


_OWNER: Final = f"""SELECT {COLUMNS} FROM conversation c JOIN lease l ON l.boot_id = c.owner
    WHERE c.conversation_id = $1"""

_OWING: Final = f"""SELECT {COLUMNS}, c.conversation_id AS owing
    FROM (SELECT conversation_id FROM effect UNION SELECT conversation_id FROM inbox) o
    JOIN conversation c ON c.conversation_id = o.conversation_id LEFT JOIN lease l ON l.boot_id = c.owner
    WHERE c.owner IS DISTINCT FROM $1 AND c.deleted_at IS NULL ORDER BY c.conversation_id"""

_TAKE_UP: Final = """UPDATE effect SET attempts = $4, seq = $5, available_at = $6, last_error = $7
    WHERE effect_id = $1 AND EXISTS (SELECT 1 FROM conversation WHERE conversation_id = $2 AND epoch = $3)
    RETURNING 1"""

_RECORD: Final = """UPDATE instance SET epoch_first = least(epoch_first, $2), epoch_last = greatest(epoch_last, $2)
    WHERE boot_id = $1"""

_BURY: Final = """UPDATE conversation SET owner = NULL, seq = 0, updated = '', workspace = NULL, title = NULL,
    archived = NULL, text_ord = -1, text = '', deleted_at = $2 WHERE conversation_id = $1"""
