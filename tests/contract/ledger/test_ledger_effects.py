"""The account of what is owed: who has begun it how often, and who may write that down."""

from dataclasses import replace

import pytest

from agent_ls.core.effects import TAKEN_UP, begun_again, drive
from agent_ls.core.errors import Refusal
from tests.contract.ledger.make import Engine, append, begun, claimed, commit

pytestmark = pytest.mark.anyio

LATER = "2026-01-31T12:00:01.000Z"


async def test_what_is_owed_comes_oldest_first_with_its_account(engine: Engine) -> None:
    ledger = await engine.opened()
    epoch = await begun(ledger)
    for n in range(3):
        await append(ledger, commit(epoch=epoch, effects=[drive(f"a{n}", "c1")]))
    account = begun_again(replace(drive("a1", "c1"), available_at=LATER), 3, seq=7)
    assert await ledger.take_up(replace(account, available_at=LATER), epoch)
    found = await ledger.owed()
    assert [(e.id, e.attempts, e.seq, e.available_at, e.last_error) for e in found] == [
        ("a0", 1, None, None, None),
        ("a1", 3, 7, LATER, TAKEN_UP),
        ("a2", 1, None, None, None),
    ]
    await ledger.close()


async def test_nobody_but_the_owner_takes_up_and_nothing_that_is_settled(engine: Engine) -> None:
    ledger = await engine.opened()
    epoch = await begun(ledger)
    effect = drive("a1", "c1")
    await append(ledger, commit(epoch=epoch, effects=[effect]))
    newer = await claimed(ledger, "c1")
    assert not await ledger.take_up(replace(effect, attempts=4), epoch)
    assert [each.attempts for each in await ledger.owed()] == [1]
    await append(ledger, commit(epoch=newer, settled=["a1"]))
    assert not await ledger.take_up(replace(effect, attempts=4), newer)
    assert await ledger.owed() == []
    await ledger.close()


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"], indirect=True)
async def test_a_daemon_that_ends_properly_leaves_no_bad_word(engine: Engine) -> None:
    first = await engine.opened()
    epoch = await begun(first)
    await append(first, commit(epoch=epoch, effects=[drive("a1", "c1")]))
    assert await first.take_up(begun_again(drive("a1", "c1"), 4, seq=1), epoch)
    await first.close()
    second = await engine.opened("boot-2")
    assert not isinstance(await second.claim("c1", "boot-2"), Refusal)
    (effect,) = await second.owed()
    assert (effect.attempts, effect.seq, effect.last_error) == (0, None, None)
    await second.close()
