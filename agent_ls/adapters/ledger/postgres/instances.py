"""Leases of daemons, and the record of them. The database's clock says when a lease is to end.

Owns the rows of `lease` and `instance`. Does not own when a lease is renewed (ledger.py) nor whether one has ended
(leases.py).

An instance is one state directory, whose lock only one daemon holds.
"""

from collections.abc import Sequence
from typing import Any, Final

from agent_ls.adapters.ledger import codec
from agent_ls.adapters.ledger.postgres.links import Connection
from agent_ls.adapters.ledger.postgres.statements import CHANNEL
from agent_ls.ports.instances import Instance

HANDOFF: Final = "handoff"


async def begin(db: Connection, instance_id: str, begun: Instance, *, host: str, ttl_s: float) -> None:
    """The daemon's lease and its entry on the record. Earlier boots of its state directory are provably gone."""
    async with db.transaction():
        await db.execute(_FORGET_LEASES, begun.boot_id, instance_id)
        await db.execute(_BEGIN, begun.boot_id, instance_id, begun.version, begun.config, begun.started_at)
        await db.execute(_RENEW, begun.boot_id, ttl_s, host)


async def renew(db: Connection, boot_id: str, host: str, *, ttl_s: float) -> None:
    await db.execute(_RENEW, boot_id, ttl_s, host)


async def end(db: Connection, boot_id: str, *, at: str, mode: str | None, in_flight: Sequence[str]) -> None:
    """A daemon that ends properly gives back at once what it holds."""
    runs = codec.encode_result({"runs": list(in_flight)})
    async with db.transaction():
        await db.execute(_LEAVE, boot_id)
        await db.execute("UPDATE conversation SET owner = NULL WHERE owner = $1", boot_id)
        await db.execute("DELETE FROM lease WHERE boot_id = $1", boot_id)
        await db.execute(
            "UPDATE instance SET ended_at = $2, mode = $3, in_flight = $4 WHERE boot_id = $1", boot_id, at, mode, runs
        )
        if mode != HANDOFF:
            # Anybody may go on at once with what was left; a successor that waits for its turn comes first.
            await db.execute("SELECT pg_notify($1, $2)", CHANNEL, f"{boot_id} ")


async def newest(db: Connection, instance_id: str, limit: int) -> Sequence[Instance]:
    return [_instance(row) for row in await db.fetch(_NEWEST, instance_id, max(0, limit))]


def _instance(row: Any) -> Instance:
    first, last = row["epoch_first"], row["epoch_last"]
    return Instance(
        boot_id=row["boot_id"],
        version=row["version"],
        config=row["config"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        mode=row["mode"],
        in_flight=tuple(codec.decode_result(row["in_flight"])["runs"]) if row["in_flight"] else (),
        epochs=None if first is None else (first, last),
    )


_FORGET_LEASES: Final = """DELETE FROM lease WHERE boot_id <> $1
    AND boot_id IN (SELECT boot_id FROM instance WHERE instance_id = $2)"""

_BEGIN: Final = """INSERT INTO instance (boot_id, instance_id, version, config, started_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (boot_id) DO UPDATE SET version = excluded.version, config = excluded.config,
    started_at = excluded.started_at, ended_at = NULL"""

_RENEW: Final = """INSERT INTO lease (boot_id, expires_at, host, ttl_s)
    VALUES ($1, clock_timestamp() + make_interval(secs => $2), $3, $2)
    ON CONFLICT (boot_id) DO UPDATE SET expires_at = excluded.expires_at, ttl_s = excluded.ttl_s"""

# What was left on purpose is not held against it.
_LEAVE: Final = """UPDATE effect SET attempts = 0, seq = NULL, available_at = NULL, last_error = NULL
    WHERE conversation_id IN (SELECT conversation_id FROM conversation WHERE owner = $1)"""

_NEWEST: Final = "SELECT * FROM instance WHERE instance_id = $1 ORDER BY position DESC LIMIT $2"
