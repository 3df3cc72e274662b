"""When the database server goes away: calls end in time, the ledger heals, and nothing is committed twice."""

from collections.abc import AsyncIterator
from contextlib import suppress

import anyio
import pytest

from agent_ls.adapters.ledger.postgres.ledger import PostgresLedger
from agent_ls.core.errors import Code, Refusal
from agent_ls.ports.ledger import Committed, LedgerError, Receipt
from agent_ls.testing.postgres import PostgresServer, serve_postgres
from tests.contract.ledger.make import (
    OWNER,
    PostgresEngine,
    accepted,
    append,
    begun,
    claimed,
    commit,
    item,
    run,
)
from tests.contract.ledger.relay import Relay, relayed

pytestmark = pytest.mark.anyio

LIMIT_S = 1.0
COMMIT = b"COMMIT"


@pytest.fixture
async def relay(postgres_server: PostgresServer, database: PostgresEngine) -> AsyncIterator[Relay]:
    async with relayed(postgres_server, database.url) as made:
        yield made


@pytest.fixture
async def far(relay: Relay) -> AsyncIterator[PostgresLedger]:
    """A ledger behind a link that can fail."""
    opened = await PostgresEngine(relay.url, {"limit_s": LIMIT_S}).opened()
    yield opened
    await opened.close()


@pytest.fixture
async def near(database: PostgresEngine) -> AsyncIterator[PostgresLedger]:
    """The same one, for looking."""
    opened = await database.opened("looker")
    yield opened
    await opened.close()


@pytest.mark.parametrize("where", ["cut_before", "cut_after"])
async def test_a_commit_whose_link_is_cut_happens_once(far: PostgresLedger, relay: Relay, where: str) -> None:
    epoch = await begun(far)
    setattr(relay, where, COMMIT)
    done = await append(far, commit(run(), item(), epoch=epoch))
    assert relay.cuts == 1
    assert [event.seq for event in done.events] == [2, 3]
    assert (await append(far, commit(item(ord_=1), epoch=epoch))).seq == 4
    events = await far.read("c1", 1, 10)
    assert [event.entity for event in events] == [run(), item(), item(ord_=1)]


@pytest.mark.parametrize("where", ["cut_before", "cut_after"])
async def test_a_command_whose_link_is_cut_is_answered_once(far: PostgresLedger, relay: Relay, where: str) -> None:
    epoch = await begun(far)
    setattr(relay, where, COMMIT)
    only_answer = await append(far, commit(epoch=epoch, receipt=accepted("k1", n=1)))
    assert only_answer.receipt == Receipt("k1", "c1", result={"n": 1, "seq": 1})
    setattr(relay, where, COMMIT)
    with_fact = await append(far, commit(run(), epoch=epoch, receipt=accepted("k2", n=2)))
    assert (with_fact.seq, with_fact.receipt) == (2, Receipt("k2", "c1", result={"n": 2, "seq": 2}))
    assert relay.cuts == 2
    assert len(await far.read("c1", 0, 10)) == 2


async def test_a_group_whose_answer_is_lost_happens_once_for_everybody_in_it(far: PostgresLedger, relay: Relay) -> None:
    epochs = {f"c{n}": await begun(far, f"c{n}") for n in range(8)}
    relay.cut_after = COMMIT
    seqs: dict[str, int] = {}

    async def write(id_: str) -> None:
        for n in range(3):
            done = await append(far, commit(item(id_, n), epoch=epochs[id_], conversation_id=id_))
            seqs[id_] = done.seq

    async with anyio.create_task_group() as writers:
        for id_ in epochs:
            writers.start_soon(write, id_)
    assert relay.cuts == 1
    assert seqs == dict.fromkeys(epochs, 4)
    for id_ in epochs:
        assert [event.seq for event in await far.read(id_, 0, 10)] == [1, 2, 3, 4]


async def test_an_owner_that_was_told_of_a_failure_that_was_none_has_to_load_again(
    far: PostgresLedger, near: PostgresLedger, relay: Relay
) -> None:
    epoch = await begun(far)
    relay.cut_after, wanted = COMMIT, commit(run(), epoch=epoch, receipt=accepted("k1"))
    await _unavailable_after_the_cut(far, wanted, relay)
    assert len(await near.read("c1", 0, 10)) == 2
    for _ in range(2):
        refused = await far.append(commit(item(), epoch=epoch))
        assert isinstance(refused, Refusal)
        assert refused.code is Code.STALE_EPOCH
    newer = await claimed(far, "c1")
    known = await append(far, commit(run(), epoch=newer, receipt=accepted("k1")))
    assert known == Committed((), 2, Receipt("k1", "c1", result={"seq": 2}))
    assert (await append(far, commit(item(), epoch=newer))).seq == 3


async def test_an_owner_that_was_told_of_a_failure_goes_on_as_if_nothing_had_been(
    far: PostgresLedger, near: PostgresLedger, relay: Relay
) -> None:
    epoch = await begun(far)
    relay.cut_before = COMMIT
    await _unavailable_after_the_cut(far, commit(run(), epoch=epoch), relay)
    assert len(await near.read("c1", 0, 10)) == 1
    assert (await append(far, commit(item(), epoch=epoch))).seq == 2


async def _unavailable_after_the_cut(far: PostgresLedger, wanted: object, relay: Relay) -> None:
    """The link is cut in the COMMIT and stays away longer than anybody waits."""
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:

            async def refuse_once_cut() -> None:
                await relay.was_cut.wait()
                relay.refuses = True

            tasks.start_soon(refuse_once_cut)
            with pytest.raises(LedgerError) as refused:
                await far.append(wanted)  # type: ignore[arg-type]
    assert refused.value.refusal.code is Code.LEDGER_UNAVAILABLE
    relay.refuses = False


async def test_a_server_that_is_away_is_said_at_once_and_everything_heals(far: PostgresLedger, relay: Relay) -> None:
    epoch = await begun(far)
    relay.refuses = True
    relay.cut()
    with anyio.fail_after(LIMIT_S):
        await _all_unavailable(far, epoch)
    relay.refuses = False
    assert (await append(far, commit(run(), epoch=epoch))).seq == 2
    status = await far.status()
    assert (status.writable, status.error, status.events) == (True, None, 2)


async def test_a_link_that_swallows_everything_holds_nobody_longer_than_the_limit(
    far: PostgresLedger, relay: Relay
) -> None:
    epoch = await begun(far)
    relay.silent = True
    with anyio.fail_after(3 * LIMIT_S):
        await _all_unavailable(far, epoch)
    relay.silent = False
    relay.cut()
    assert (await append(far, commit(run(), epoch=epoch))).seq == 2


async def _all_unavailable(far: PostgresLedger, epoch: int) -> None:
    codes: list[Code] = []

    async def ask(call: object) -> None:
        with pytest.raises(LedgerError) as refused:
            await call  # type: ignore[misc]
        codes.append(refused.value.refusal.code)

    async with anyio.create_task_group() as tasks:
        for call in (far.load("c1"), far.claim("c2", OWNER), far.append(commit(run(), epoch=epoch)), far.renew()):
            tasks.start_soon(ask, call)
    assert codes == [Code.LEDGER_UNAVAILABLE] * 4


async def test_a_server_that_is_started_again_is_found_again() -> None:
    with serve_postgres() as server:
        ledger = await PostgresEngine(server.database()).opened()
        epoch = await begun(ledger)
        for end in (server.stop, server.kill):
            before = (await append(ledger, commit(run(), epoch=epoch))).seq
            end()
            server.start()
            assert (await append(ledger, commit(item(), epoch=epoch))).seq == before + 1
            assert len(await ledger.read("c1", 0, 100)) == before + 1
        await ledger.close()


async def test_a_server_that_crashes_under_load_keeps_what_was_acknowledged_and_nothing_twice() -> None:
    with serve_postgres() as server:
        ledger = await PostgresEngine(server.database(), {"limit_s": 20.0}).opened()
        acknowledged: dict[str, list[int]] = {}
        halfway = anyio.Event()

        async def write(id_: str) -> None:
            epoch = await begun(ledger, id_)
            seqs = acknowledged[id_] = []
            for n in range(100):
                with suppress(LedgerError):
                    wanted = commit(item(id_, n), epoch=epoch, conversation_id=id_, receipt=accepted(f"{id_}-{n}", id_))
                    done = await ledger.append(wanted)
                    if isinstance(done, Committed):
                        seqs.append(done.seq)
                if n == 20:
                    halfway.set()

        with anyio.fail_after(40):
            async with anyio.create_task_group() as writers:
                for n in range(6):
                    writers.start_soon(write, f"c{n}")
                await halfway.wait()
                await anyio.to_thread.run_sync(server.kill)
                await anyio.to_thread.run_sync(server.start)
        for id_, seqs in acknowledged.items():
            events = await ledger.read(id_, 0, 1000)
            assert [event.seq for event in events] == list(range(1, len(events) + 1))
            assert set(seqs) <= {event.seq for event in events}
            written = [event.entity.id for event in events]
            assert len(written) == len(set(written))
        await ledger.close()


async def test_a_cancelled_wait_harms_nobody(postgres: PostgresLedger) -> None:
    await begun(postgres)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await postgres.append(commit(item(ord_=1)))
    with anyio.CancelScope() as scope:
        scope.cancel()
        await postgres.load("c1")
    done = await append(postgres, commit(item(ord_=2)))
    assert [event.seq for event in await postgres.read("c1", 0, 10)] == list(range(1, done.seq + 1))
