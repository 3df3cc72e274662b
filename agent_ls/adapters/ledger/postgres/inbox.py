"""Commands taken by a daemon that does not hold the claim: put here, decided by the owner.

Owns the table. A command leaves it in the very commit that writes its receipt (statements.py), so it is neither lost
nor decided twice. Does not own who looks when (a hint comes with `changes`).
"""

from collections.abc import Sequence

from agent_ls.adapters.ledger import codec
from agent_ls.adapters.ledger.postgres.links import Connection
from agent_ls.adapters.ledger.postgres.statements import CHANNEL
from agent_ls.ports.shared import Handed


async def put(db: Connection, handed: Handed, boot_id: str) -> bool:
    """False if this command is there already, or was answered: its receipt says how."""
    kept = await db.fetchval(
        "WITH kept AS (INSERT INTO inbox (command_id, conversation_id, payload, at) SELECT $1, $2, $3, $4"
        " WHERE NOT EXISTS (SELECT 1 FROM receipt WHERE command_id = $1)"
        " ON CONFLICT DO NOTHING RETURNING conversation_id)"
        f" SELECT pg_notify('{CHANNEL}', $5 || ' ' || conversation_id)::text FROM kept",
        handed.command_id,
        handed.conversation_id,
        codec.encode_result(handed.payload),
        handed.at,
        boot_id,
    )
    return kept is not None


async def waiting(db: Connection, owner: str) -> Sequence[Handed]:
    """For conversations that this daemon has claimed, oldest first."""
    rows = await db.fetch(
        "SELECT i.command_id, i.conversation_id, i.payload, i.at FROM inbox i JOIN conversation c"
        " ON c.conversation_id = i.conversation_id WHERE c.owner = $1 ORDER BY i.position",
        owner,
    )
    return [Handed(row[0], row[1], codec.decode_result(row[2]), row[3]) for row in rows]


async def drop(db: Connection, command_id: str) -> None:
    """Of a command that can get no receipt, because its conversation is not there."""
    await db.execute("DELETE FROM inbox WHERE command_id = $1", command_id)
