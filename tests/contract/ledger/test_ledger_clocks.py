"""Whatever the clocks of daemons say they judge no lease, and the database's, set back, keeps none alive (case B54)."""

from datetime import UTC, datetime, timedelta

import anyio
import asyncpg
import pytest

from agent_ls.core.effects import drive
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


class Moving:
    """A monotonic clock that the test moves; who sleeps moves it too, up to `until`."""

    def __init__(self, until: float = 0.0) -> None:
        self.seconds = 100.0
        self._until = self.seconds + until
        self.reached = anyio.Event()

    def now(self) -> str:
        return "2026-01-31T12:00:00.000Z"

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        if self.seconds >= self._until:
            self.reached.set()
            await anyio.sleep_forever()


LONG_S = 10.0


async def set_back(database: PostgresEngine, by: timedelta) -> None:
    """As the clock of the server is: whatever ends later by as much."""
    connection = await asyncpg.connect(database.url)
    await connection.execute("UPDATE agent_ls.lease SET expires_at = expires_at + $1", by)
    await connection.close()


async def test_a_server_whose_clock_is_set_back_keeps_no_dead_daemon_alive(database: PostgresEngine) -> None:
    clock = Moving()
    dead = await database.opened("dead", ttl_s=LONG_S, host="laptop")
    other = await database.opened("other", clock=clock, ttl_s=LONG_S)
    await append(dead, commit(run(), epoch=await claimed(dead, "c1", "dead"), effects=[drive("a1", "c1")]))
    await set_back(database, timedelta(hours=1))
    refused = await other.claim("c1", "other")
    assert isinstance(refused, Refusal)
    assert 0 < refused.data["leftSeconds"] <= LONG_S
    clock.seconds += LONG_S - 0.1
    assert isinstance(await other.claim("c1", "other"), Refusal)
    assert (await other.owner("c1"), await other.present("laptop")) == ("dead", True)
    found, soonest_s = await other.unheld()
    assert (list(found), round(soonest_s or 0, 3)) == ([], 0.1)
    clock.seconds += 0.1
    assert (await other.owner("c1"), await other.present("laptop")) == (None, False)
    assert await other.unheld() == (["c1"], None)
    assert await claimed(other, "c1", "other") == 2
    await dead.close()
    await other.close()


async def test_who_goes_on_renewing_keeps_what_it_has(database: PostgresEngine) -> None:
    clock = Moving()
    owner = await database.opened("owner", ttl_s=LONG_S)
    other = await database.opened("other", clock=clock, ttl_s=LONG_S)
    await claimed(owner, "c1", "owner")
    await set_back(database, timedelta(hours=1))
    for _ in range(4):
        assert isinstance(await other.claim("c1", "other"), Refusal)
        await owner.renew()
        clock.seconds += LONG_S - 1
    await owner.close()
    await other.close()


async def test_a_daemon_has_looked_before_anybody_asks_it(database: PostgresEngine) -> None:
    """So the lease of a dead one ends in time, however late the first question comes."""
    dead = await database.opened("dead", ttl_s=LONG_S)
    await claimed(dead, "c1", "dead")
    await set_back(database, timedelta(hours=1))
    clock = Moving(until=LONG_S + 2)
    other = await database.opened("other", clock=clock, ttl_s=LONG_S)
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(other.keep)
            await clock.reached.wait()
            tasks.cancel_scope.cancel()
    assert await claimed(other, "c1", "other") == 2
    await dead.close()
    await other.close()
