"""What daemons on one database know of each other: who holds what, what nobody holds, who is there, what has ended."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import anyio
import pytest

from agent_ls.adapters.ledger.postgres.ledger import PostgresLedger
from agent_ls.core.effects import drive
from agent_ls.core.errors import Code, Refusal
from agent_ls.ports.ledger import Receipt
from agent_ls.ports.shared import Handed
from tests.contract.ledger.make import OWNER, PostgresEngine, append, at, begun, claimed, commit, item, run

pytestmark = pytest.mark.anyio

LIMIT_S = 10


@pytest.fixture
async def other(database: PostgresEngine) -> AsyncIterator[PostgresLedger]:
    opened = await database.opened("boot-2", host="server")
    yield opened
    await opened.close()


async def test_a_daemon_knows_what_it_holds_until_another_takes_it(
    postgres: PostgresLedger, other: PostgresLedger
) -> None:
    first, second = await begun(postgres), await claimed(postgres, "c2")
    assert await postgres.held() == {"c1": first, "c2": second}
    await postgres.release("c1", OWNER)
    taken = await claimed(other, "c1", "boot-2")
    assert (await postgres.held(), await other.held()) == ({"c2": second}, {"c1": taken})


async def test_what_is_owed_and_held_by_nobody_is_found_by_everybody(
    database: PostgresEngine, other: PostgresLedger
) -> None:
    first = await database.opened()
    await append(first, commit(epoch=await begun(first), effects=[drive("a1", "c1")]))
    found, soonest_s = await other.unheld()
    assert (list(found), 0 < (soonest_s or 0) <= 30) == ([], True)
    assert await first.unheld() == ([], None)
    await first.close()
    assert await other.unheld() == (["c1"], None)
    await claimed(other, "c1", "boot-2")
    assert await other.unheld() == ([], None)


async def test_a_command_that_waits_in_a_conversation_of_nobody_is_something_owed(
    postgres: PostgresLedger, other: PostgresLedger
) -> None:
    await begun(postgres)
    await other.hand_over(Handed("k1", "c1", {}, at(0)))
    assert list((await other.unheld())[0]) == []
    await postgres.release("c1", OWNER)
    assert list((await other.unheld())[0]) == ["c1"]
    await postgres.drop_handed("k1")
    assert await other.unheld() == ([], None)


async def test_a_host_is_present_as_long_as_one_of_its_daemons(database: PostgresEngine, other: PostgresLedger) -> None:
    assert (await other.present("laptop"), await other.present("server")) == (False, True)
    laptop = await database.opened(host="laptop")
    assert await other.present("laptop") is True
    await laptop.renew()
    assert await other.present("laptop") is True
    await laptop.close()
    assert await other.present("laptop") is False


@pytest.mark.parametrize(("mode", "told"), [("shutdown", True), ("handoff", False)])
async def test_the_end_of_a_daemon_is_told_unless_a_successor_waits_for_its_place(
    database: PostgresEngine, other: PostgresLedger, *, mode: str, told: bool
) -> None:
    first = await database.opened()
    await begun(first)
    async with aclosing(other.changes()) as hints:  # type: ignore[type-var]
        with anyio.fail_after(LIMIT_S):
            assert await anext(hints) is None
            first.ends_as(mode, [])
            await first.close()
            last = await database.opened("boot-3")
            await append(last, commit(epoch=await claimed(last, "c1", "boot-3")))
            await last.delete("c1", "d")
            assert await anext(hints) == (None if told else "c1")
    await last.close()


async def test_a_refusal_and_a_deletion_are_hinted_at_like_any_change(
    postgres: PostgresLedger, other: PostgresLedger
) -> None:
    epoch = await begun(postgres)
    refused = Receipt("k1", "c1", refusal=Refusal(Code.QUEUE_HELD, "The queue is held."))
    async with aclosing(other.changes()) as hints:  # type: ignore[type-var]
        with anyio.fail_after(LIMIT_S):
            assert await anext(hints) is None
            await append(postgres, commit(epoch=epoch, receipt=refused))
            assert await anext(hints) == "c1"
            await append(postgres, commit(item(), run(), epoch=epoch))
            assert await anext(hints) == "c1"
            await postgres.delete("c1", "d")
            assert await anext(hints) == "c1"
