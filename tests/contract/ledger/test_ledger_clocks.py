"""Whatever the clocks of two daemons say, the database's alone judges a lease (case B54)."""

from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from agent_ls.core.errors import Code, Refusal
from tests.contract.ledger.make import PostgresEngine, accepted, append, claimed, commit, item, run

pytestmark = pytest.mark.anyio

TTL_S = 1.0
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


class Shifted:
    """A wall clock that goes wrong by so much, and a monotonic one that stands still as in a machine that sleeps."""

    def __init__(self, off: timedelta) -> None:
        self._now = (NOON + off).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def now(self) -> str:
        return self._now

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("owner_off", "other_off"),
    [
        (timedelta(), timedelta(seconds=1)),
        (timedelta(hours=-1), timedelta(hours=1)),
        (timedelta(hours=1), timedelta(hours=-1)),
    ],
)
async def test_a_wrong_clock_neither_takes_a_conversation_away_nor_keeps_it(
    database: PostgresEngine, owner_off: timedelta, other_off: timedelta
) -> None:
    owner = await database.opened("owner", clock=Shifted(owner_off), ttl_s=TTL_S)
    other = await database.opened("other", clock=Shifted(other_off), ttl_s=TTL_S)
    assert await claimed(owner, "c1", "owner") == 1
    await append(owner, commit(run()))
    refused = await other.claim("c1", "other")
    assert isinstance(refused, Refusal)
    assert (refused.code, 0 < refused.data["leftSeconds"] <= TTL_S) == (Code.CONVERSATION_BUSY, True)
    connection = await asyncpg.connect(database.url)
    await connection.fetchval(f"SELECT pg_sleep({TTL_S})")
    await connection.close()
    # Now both believe that it is theirs; only one of them is right.
    assert await claimed(other, "c1", "other") == 2
    late = await owner.append(commit(item(), epoch=1, receipt=accepted("k1")))
    assert isinstance(late, Refusal)
    assert late.code is Code.STALE_EPOCH
    assert (await append(other, commit(item(), epoch=2))).seq == 2
    await owner.close()
    await other.close()
