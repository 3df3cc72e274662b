"""Several daemons on one database: who may write, for how long, and how the others hear of it."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import anyio
import asyncpg
import pytest

from agent_ls.adapters.ledger.postgres.ledger import PostgresLedger
from agent_ls.core.errors import Code, Refusal
from agent_ls.ports.ledger import Committed, Receipt
from agent_ls.ports.shared import Handed, Shared
from agent_ls.testing.postgres import PostgresServer
from tests.contract.ledger.make import (
    OWNER,
    PostgresEngine,
    accepted,
    append,
    at,
    begun,
    claimed,
    commit,
    item,
    request,
    run,
)
from tests.contract.ledger.relay import relayed

pytestmark = pytest.mark.anyio

LIMIT_S = 10
TTL_S = 0.3


@pytest.fixture
async def other(database: PostgresEngine) -> AsyncIterator[PostgresLedger]:
    """Another daemon, on another machine."""
    opened = await database.opened("boot-2")
    yield opened
    await opened.close()


@asynccontextmanager
async def asleep(database: PostgresEngine) -> AsyncIterator[PostgresLedger]:
    """A daemon with a conversation, whose lease has ended by the database's clock. Its own clock stands still."""
    ledger = await database.opened("sleeper", ttl_s=TTL_S)
    await claimed(ledger, "c1", "sleeper")
    await append(ledger, commit(run(), epoch=1))
    await _in_database(database, f"SELECT pg_sleep({2 * TTL_S})")
    yield ledger
    await ledger.close()


async def _in_database(database: PostgresEngine, statement: str) -> object:
    connection = await asyncpg.connect(database.url)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


async def test_what_another_daemon_holds_is_refused_with_its_name(
    postgres: PostgresLedger, other: PostgresLedger
) -> None:
    await begun(postgres)
    refused = await other.claim("c1", "boot-2")
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.data["owner"], refused.retryable) == (Code.CONVERSATION_BUSY, OWNER, True)
    assert 0 < refused.data["leftSeconds"] <= 30
    assert (await append(postgres, commit(run()))).seq == 2


async def test_what_was_released_can_be_claimed_by_anybody(postgres: PostgresLedger, other: PostgresLedger) -> None:
    epoch = await begun(postgres)
    await postgres.release("c1", OWNER)
    assert await other.claim("c1", "boot-2") == epoch + 1
    assert isinstance(await postgres.claim("c1", OWNER), Refusal)


async def test_a_daemon_that_ends_gives_everything_back(database: PostgresEngine, other: PostgresLedger) -> None:
    first = await database.opened()
    epochs = [await begun(first, f"c{n}") for n in range(3)]
    await first.close()
    assert [await other.claim(f"c{n}", "boot-2") for n in range(3)] == [epoch + 1 for epoch in epochs]
    assert (await other.status()).details["reclaimed"] == 0


async def test_of_two_that_claim_at_once_one_gets_it(postgres: PostgresLedger, other: PostgresLedger) -> None:
    results: list[int | Refusal] = []

    async def take(ledger: PostgresLedger, owner: str, id_: str) -> None:
        results.append(await ledger.claim(id_, owner))

    async with anyio.create_task_group() as tasks:
        for n in range(10):
            tasks.start_soon(take, postgres, OWNER, f"c{n}")
            tasks.start_soon(take, other, "boot-2", f"c{n}")
    assert sorted(1 if isinstance(one, int) else 0 for one in results) == [0] * 10 + [1] * 10


async def test_a_lease_that_ended_by_the_clock_of_the_database_permits_a_takeover(
    database: PostgresEngine, other: PostgresLedger
) -> None:
    async with asleep(database) as sleeper:
        assert await other.claim("c1", "boot-2") == 2
        assert (await other.status()).details["reclaimed"] == 1
        late = await sleeper.append(commit(item(), epoch=1, receipt=accepted("k1")))
        assert isinstance(late, Refusal)
        assert (late.code, late.data) == (Code.STALE_EPOCH, {"epoch": 1, "newest": 2})
        assert await other.receipt("k1") is None
        assert isinstance(await sleeper.claim("c1", "sleeper"), Refusal)
        await sleeper.release("c1", "sleeper")
        assert (await append(other, commit(item(), epoch=2))).seq == 2


async def test_an_owner_that_overslept_and_was_not_taken_over_goes_on(
    database: PostgresEngine, other: PostgresLedger
) -> None:
    async with asleep(database) as sleeper:
        assert (await append(sleeper, commit(item(), epoch=1))).seq == 2
        await sleeper.renew()
        assert isinstance(await other.claim("c1", "boot-2"), Refusal)


async def test_the_next_daemon_of_a_state_directory_takes_over_at_once(database: PostgresEngine) -> None:
    dead = await database.opened("boot-1", instance_id="laptop")
    stranger = await database.opened("boot-3", instance_id="desk")
    epoch = await begun(dead)
    assert isinstance(await stranger.claim("c1", "boot-3"), Refusal)
    successor = await database.opened("boot-2", instance_id="laptop")
    assert await successor.claim("c1", "boot-2") == epoch + 1
    for ledger in (dead, stranger, successor):
        await ledger.close()


async def test_the_owner_is_known_to_others_while_its_lease_lasts(
    database: PostgresEngine, other: PostgresLedger
) -> None:
    assert isinstance(other, Shared)
    async with asleep(database) as sleeper:
        assert await other.owner("c1") is None
        await sleeper.renew()
        assert (await other.owner("c1"), await other.owner("c2")) == ("sleeper", None)
        await sleeper.release("c1", "sleeper")
        assert await other.owner("c1") is None


async def test_keeping_renews_the_lease_and_writes_partials_down(
    database: PostgresEngine, other: PostgresLedger
) -> None:
    ticks = Ticks()
    ledger = await database.opened(OWNER, ttl_s=6.0, clock=ticks)
    await begun(ledger)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ledger.keep)
        ledger.keep_partial("c1", "i1", "so far")
        await ticks.tick()
        await ticks.tick()
        assert await other.partials("c1") == {"i1": "so far"}
        before = await _in_database(database, "SELECT expires_at FROM agent_ls.lease WHERE boot_id = 'boot-1'")
        for _ in range(3):
            await ticks.tick()
        after = await _in_database(database, "SELECT expires_at FROM agent_ls.lease WHERE boot_id = 'boot-1'")
        assert after > before  # type: ignore[operator]
        tasks.cancel_scope.cancel()
    await ledger.close()


class Ticks:
    """A clock that is moved by the test, from one sleep to the next."""

    def __init__(self) -> None:
        self._time = 0.0
        self._sleeps = anyio.Event()
        self._go = anyio.Event()

    def now(self) -> str:
        return at(0)

    def monotonic(self) -> float:
        return self._time

    async def sleep(self, seconds: float) -> None:
        self._time += seconds
        self._sleeps.set()
        await self._go.wait()
        self._go = anyio.Event()

    async def tick(self) -> None:
        """Returns when it sleeps; at the next call it wakes up first."""
        with anyio.fail_after(LIMIT_S):
            await self._sleeps.wait()
            self._sleeps = anyio.Event()
            self._go.set()


async def test_a_command_answered_by_one_daemon_is_answered_the_same_by_the_other(
    database: PostgresEngine, other: PostgresLedger
) -> None:
    first = await database.opened()
    await append(first, commit(run(), epoch=await begun(first), receipt=accepted("k1", runId="c1.r1")))
    expected = Receipt("k1", "c1", result={"runId": "c1.r1", "seq": 2})
    assert await other.receipt("k1") == expected
    await first.close()
    epoch = await claimed(other, "c1", "boot-2")
    assert await other.append(commit(run(ordinal=2), epoch=epoch, receipt=accepted("k1"))) == Committed((), 2, expected)


async def test_one_command_sent_to_two_conversations_at_once_is_taken_once(
    postgres: PostgresLedger, other: PostgresLedger
) -> None:
    first, second = await begun(postgres), await claimed(other, "c2", "boot-2")
    outcomes: list[object] = []

    async def send(ledger: PostgresLedger, id_: str, epoch: int) -> None:
        outcomes.append(await ledger.append(commit(epoch=epoch, conversation_id=id_, receipt=accepted("k1", id_))))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(send, postgres, "c1", first)
        tasks.start_soon(send, other, "c2", second)
    refused = [outcome for outcome in outcomes if isinstance(outcome, Refusal)]
    assert (len(outcomes), [one.code for one in refused]) == (2, [Code.COMMAND_CONFLICT])


async def test_numbers_of_two_daemons_are_never_the_same(postgres: PostgresLedger, other: PostgresLedger) -> None:
    given = [await ledger.reserve_numbers(1) for _ in range(5) for ledger in (postgres, other)]
    assert given == list(range(1, 11))
    await begun(postgres)
    await append(postgres, commit(request(number=40)))
    assert await other.reserve_numbers(2) == 41


async def test_others_hear_of_what_was_committed_and_the_writer_does_not(
    postgres: PostgresLedger, other: PostgresLedger
) -> None:
    epoch = await begun(postgres)
    async with aclosing(other.changes()) as theirs, aclosing(postgres.changes()) as ours:  # type: ignore[type-var]
        with anyio.fail_after(LIMIT_S):
            assert (await anext(theirs), await anext(ours)) == (None, None)
            await append(postgres, commit(run(), epoch=epoch))
            assert await anext(theirs) == "c1"
            await claimed(other, "c2", "boot-2")
            await append(other, commit(run("c2"), conversation_id="c2"))
            assert await anext(ours) == "c2"


async def test_who_lost_the_link_is_told_that_anything_may_have_changed(
    postgres_server: PostgresServer, database: PostgresEngine, postgres: PostgresLedger
) -> None:
    epoch = await begun(postgres)
    async with relayed(postgres_server, database.url) as relay:
        far = await PostgresEngine(relay.url).opened("boot-2", clock=Hasty())
        async with aclosing(far.changes()) as hints:  # type: ignore[type-var]
            with anyio.fail_after(LIMIT_S):
                assert await anext(hints) is None
                relay.cut()
                await append(postgres, commit(run(), epoch=epoch))
                assert await anext(hints) is None
                await append(postgres, commit(item(), epoch=epoch))
                assert await anext(hints) == "c1"
        await far.close()


class Hasty(Ticks):
    """Does not wait."""

    async def sleep(self, seconds: float) -> None:
        await anyio.lowlevel.checkpoint()


async def test_a_command_for_the_owner_waits_until_its_answer_is_committed(
    postgres: PostgresLedger, other: PostgresLedger
) -> None:
    epoch = await begun(postgres)
    handed = [Handed(f"k{n}", "c1", {"method": "agent/send", "text": "Hi\0"}, at(n)) for n in (1, 2)]
    async with aclosing(postgres.changes()) as hints:  # type: ignore[type-var]
        with anyio.fail_after(LIMIT_S):
            assert await anext(hints) is None
            assert [await other.hand_over(one) for one in handed] == [True, True]
            assert await other.hand_over(handed[0]) is False
            assert await anext(hints) == "c1"
    assert (list(await postgres.handed_over()), list(await other.handed_over())) == (handed, [])
    await append(postgres, commit(run(), epoch=epoch, receipt=accepted("k1")))
    assert list(await postgres.handed_over()) == handed[1:]
    assert await other.hand_over(handed[0]) is False
    assert await other.receipt("k1") == Receipt("k1", "c1", result={"seq": 2})
    await postgres.drop_handed("k2")
    assert list(await postgres.handed_over()) == []


async def test_two_daemons_write_side_by_side(postgres: PostgresLedger, other: PostgresLedger) -> None:
    async def write(ledger: PostgresLedger, owner: str, id_: str) -> None:
        epoch = await claimed(ledger, id_, owner)
        for n in range(30):
            wanted = commit(item(id_, n), epoch=epoch, conversation_id=id_, receipt=accepted(f"{id_}-{n}", id_))
            assert (await append(ledger, wanted)).seq == n + 1

    with anyio.fail_after(40):
        async with anyio.create_task_group() as writers:
            for n in range(4):
                writers.start_soon(write, postgres, OWNER, f"a{n}")
                writers.start_soon(write, other, "boot-2", f"b{n}")
    assert (await postgres.status()).events == 8 * 30
