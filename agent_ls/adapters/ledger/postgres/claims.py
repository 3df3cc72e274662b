"""Who may write: leases of daemons, claims on conversations, instances; and the deletion of a conversation.

Owns the SQL and the rule when a claim may be taken from its owner. The database's clock alone says whether a lease has
ended. Does not own when a lease is renewed (ledger.py).
"""

from dataclasses import dataclass
from typing import Final

from agent_ls.adapters.ledger.places import held_elsewhere
from agent_ls.adapters.ledger.plan import receipt_row
from agent_ls.adapters.ledger.postgres.links import Connection
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
    return Claimed(int(epoch), reclaimed=other)


async def release(db: Connection, conversation_id: str, owner: str) -> None:
    # The row stays, so that no epoch is ever given twice.
    await db.execute(
        "UPDATE conversation SET owner = NULL WHERE conversation_id = $1 AND owner = $2", conversation_id, owner
    )


async def renew(db: Connection, boot_id: str, ttl_s: float) -> None:
    await db.execute(_RENEW, boot_id, ttl_s)


async def begin(db: Connection, boot_id: str, *, instance_id: str, at: str, ttl_s: float) -> None:
    """The daemon's lease and its entry among the instances.

    An instance is one state directory, whose lock only one daemon holds: earlier boots of it are provably gone.
    """
    async with db.transaction():
        await db.execute(
            "DELETE FROM lease WHERE boot_id <> $1 AND boot_id IN"
            " (SELECT boot_id FROM instance WHERE instance_id = $2)",
            boot_id,
            instance_id,
        )
        await db.execute(
            "INSERT INTO instance (boot_id, instance_id, started_at) VALUES ($1, $2, $3) ON CONFLICT (boot_id)"
            " DO UPDATE SET started_at = excluded.started_at, ended_at = NULL",
            boot_id,
            instance_id,
            at,
        )
        await db.execute(_RENEW, boot_id, ttl_s)


async def end(db: Connection, boot_id: str, at: str) -> None:
    """A daemon that ends properly gives back at once what it holds."""
    async with db.transaction():
        await db.execute("UPDATE conversation SET owner = NULL WHERE owner = $1", boot_id)
        await db.execute("DELETE FROM lease WHERE boot_id = $1", boot_id)
        await db.execute("UPDATE instance SET ended_at = $2 WHERE boot_id = $1", boot_id, at)


async def delete(db: Connection, receipt: Receipt, at: str) -> bool:
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
    return True


_LEFT: Final = "SELECT extract(epoch FROM expires_at - clock_timestamp()) FROM lease WHERE boot_id = $1"

_RENEW: Final = """INSERT INTO lease (boot_id, expires_at)
    VALUES ($1, clock_timestamp() + make_interval(secs => $2))
    ON CONFLICT (boot_id) DO UPDATE SET expires_at = excluded.expires_at"""

_BURY: Final = """UPDATE conversation SET owner = NULL, seq = 0, updated = '', workspace = NULL, title = NULL,
    archived = NULL, text_ord = -1, text = '', deleted_at = $2 WHERE conversation_id = $1"""
