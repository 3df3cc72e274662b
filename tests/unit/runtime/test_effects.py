"""A run that brings down each daemon that works on it is begun five times, ever later, and then ended with a reason."""

import anyio
import pytest

from agent_ls.adapters.ledger.memory import Store
from agent_ls.core.effects import TAKEN_UP
from agent_ls.core.items import Notice
from agent_ls.core.run import RunStatus
from tests.unit.runtime.house import ID, House, open_house, owed_effects

pytestmark = pytest.mark.anyio


async def left_by_a_dead_daemon() -> Store:
    async with open_house() as house:
        house.model.says("never", gate=anyio.Event())
        await house.create()
        await house.say()
        await house.asked()
        return await died(house)


async def died(house: House) -> Store:
    """Nothing is written down after that."""
    await house.ledger.claim(ID, "successor")
    return house.ledger.store


async def worked_on(store: Store, n: int) -> Store:
    """One more daemon that dies when it has begun."""
    async with open_house(store=store, boot=f"b{n}") as house:
        house.model.says("never", gate=anyio.Event())
        await house.registry.recover_all(5)
        if n > 2:
            await house.clock.wake()
        await house.asked()
        return await died(house)


async def test_the_sixth_daemon_ends_it_and_says_so_and_the_next_message_works() -> None:
    store = await left_by_a_dead_daemon()
    for n in range(2, 6):
        await worked_on(store, n)
        (effect,) = owed_effects(store)
        assert (effect.attempts, effect.last_error) == (n, TAKEN_UP)
    async with open_house(store=store, boot="b6") as house:
        await house.registry.recover_all(5)
        await house.rest()
        run = house.actor.state.runs[f"{ID}.r1"]
        assert (run.status, (run.error or {})["code"], house.model.requests) == (RunStatus.FAILED, "given_up", [])
        assert [i.payload.code for i in house.actor.state.items.values() if isinstance(i.payload, Notice)] == [
            "given_up"
        ]
        assert owed_effects(store) == []
        house.model.says("done")
        await house.say()
        await house.rest()
        assert house.actor.state.runs[f"{ID}.r2"].status is RunStatus.COMPLETED


async def test_until_it_begins_the_ledger_says_when_and_whatever_a_person_does_ends_the_wait() -> None:
    store = await left_by_a_dead_daemon()
    await worked_on(store, 2)
    async with open_house(store=store, boot="b3") as house:
        await house.registry.recover_all(5)
        await house.clock.someone_sleeps()
        (effect,) = owed_effects(store)
        assert (effect.attempts, effect.available_at is not None) == (2, True)
        await house.stop()
        await house.rest()
        assert house.actor.state.runs[f"{ID}.r1"].status is RunStatus.INTERRUPTED
        assert house.model.requests == []


async def test_who_dies_before_it_begins_is_not_counted() -> None:
    store = await left_by_a_dead_daemon()
    await worked_on(store, 2)
    for n in range(3, 9):
        async with open_house(store=store, boot=f"b{n}") as house:
            await house.registry.recover_all(5)
            await house.clock.someone_sleeps()
            await died(house)
    (effect,) = owed_effects(store)
    assert effect.attempts == 2


async def test_a_model_that_was_heard_begins_the_count_anew() -> None:
    store = await left_by_a_dead_daemon()
    for n in range(2, 9):
        store.partials = {ID: {f"{ID}.r1.a1.s1.4.p0": "half"}}
        async with open_house(store=store, boot=f"b{n}") as house:
            house.model.says("never", gate=anyio.Event())
            await house.registry.recover_all(5)
            await house.asked()
            await died(house)
    (effect,) = owed_effects(store)
    assert effect.attempts == 2
