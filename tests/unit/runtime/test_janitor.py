"""The janitor: a planted violation is logged by name, counted, and put right by what helps."""

import logging
from dataclasses import replace
from typing import Any

import anyio
import pytest

from agent_ls.core.conversation import Mode
from agent_ls.core.run import Run, RunStatus
from agent_ls.runtime.janitor import LOOK_S, Janitor
from tests.unit.runtime.house import ID, HandTool, House, full_disk, open_house, owed_effects

pytestmark = pytest.mark.anyio

RUN = f"{ID}.r1"
ATTEMPT = f"{RUN}.a1"
SECRET = "the secret of the house"


async def test_a_sound_daemon_is_looked_at_and_left_alone() -> None:
    async with open_house() as house:
        gate = anyio.Event()
        house.model.says("hi", gate=gate)
        await house.create()
        await house.say()
        await house.asked()
        janitor = Janitor(house.registry)
        await janitor.look()
        gate.set()
        await house.rest()
        await janitor.look()
        assert janitor.status() == {"looks": 2, "violations": 0, "repaired": 0, "open": []}


async def test_a_run_that_nobody_drives_is_driven_again(caplog: pytest.LogCaptureFixture) -> None:
    async with open_house() as house:
        await asleep(house)
        house.ledger.store.effects.clear()
        janitor = Janitor(house.registry)
        house.model.says("hi")
        with caplog.at_level(logging.ERROR, "agent_ls.runtime.janitor"):
            await janitor.look()
        await house.rest()
        await janitor.look()
        assert house.actor.state.runs[RUN].status is RunStatus.COMPLETED
        assert janitor.status() == {"looks": 2, "violations": 1, "repaired": 1, "open": []}
        errors = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
        assert errors == [f"an invariant does not hold: 1: nobody works on {RUN} and no effect is owed for it"]
        assert SECRET not in caplog.text


async def test_a_conversation_that_another_daemon_went_on_with_is_let_go_and_nothing_is_wrong_with_it() -> None:
    async with open_house(HandTool()) as house:
        house.model.says("", ("edit", "{}"))
        await house.create(Mode.ASK)
        await house.say()
        await house.until(lambda: bool(house.actor.state.pending))
        await house.registry.driver(ID).over()  # type: ignore[union-attr]
        stale, store = house.actor, house.ledger.store
        store.leases["other"], store.owners[ID] = 1.0, "other"
        store.conversations[ID].events.append(store.conversations[ID].events[-1])
        store.effects.clear()
        janitor = Janitor(house.registry)
        await janitor.look()
        assert (house.registry.live(ID), stale.fenced) == (None, True)
        assert janitor.status() == {"looks": 1, "violations": 0, "repaired": 0, "open": []}


async def test_an_effect_that_outlives_its_run_is_settled() -> None:
    async with open_house() as house:
        gate = anyio.Event()
        house.model.says("hi", gate=gate)
        await house.create()
        await house.say()
        await house.asked()
        (effect,) = owed_effects(house.ledger.store)
        gate.set()
        await house.rest()
        house.ledger.store.effects[effect.id] = effect
        janitor = Janitor(house.registry)
        await janitor.look()
        assert owed_effects(house.ledger.store) == []
        await janitor.look()
        assert janitor.status() == {"looks": 2, "violations": 1, "repaired": 1, "open": []}


async def test_a_run_that_cannot_be_put_right_fails_with_a_clear_error() -> None:
    async with open_house(HandTool()) as house:
        house.model.says("", ("edit", "{}"))
        await house.create(Mode.ASK)
        await house.say()
        await house.until(lambda: bool(house.actor.state.pending))
        await house.registry.driver(ID).over()
        (request,) = house.actor.state.pending.values()
        # Nobody can answer what the call waits for, in memory and in the ledger.
        house.actor.state.pending.clear()
        del house.ledger.store.conversations[ID].current[request.id]
        janitor = Janitor(house.registry)
        await janitor.look()
        assert house.actor.state.runs[RUN].status is RunStatus.RUNNING
        await janitor.look()
        run = house.actor.state.runs[RUN]
        assert (run.status, (run.error or {})["code"]) == (RunStatus.FAILED, "internal_error")
        await janitor.look()
        assert janitor.status() == {"looks": 3, "violations": 1, "repaired": 1, "open": []}


async def test_a_view_that_the_ledger_does_not_share_is_loaded_anew() -> None:
    async with open_house() as house:
        house.model.says("hi")
        await house.create()
        await house.say()
        await house.rest()
        known: Run = house.actor.state.runs[RUN]
        house.actor.state.runs[RUN] = replace(known, user_item_id="lost")
        janitor = Janitor(house.registry)
        before = house.actor
        await janitor.look()
        assert house.registry.live(ID) is not before
        assert house.actor.state.runs[RUN] == known
        await janitor.look()
        assert janitor.status() == {"looks": 2, "violations": 2, "repaired": 1, "open": []}


async def test_it_looks_at_once_and_again_after_a_while_whatever_the_ledger_says() -> None:
    async with open_house() as house:
        await house.create()
        janitor = Janitor(house.registry)
        owed, fails = house.ledger.owed, [full_disk()]

        async def moody() -> Any:
            if fails:
                raise fails.pop()
            return await owed()

        house.ledger.owed = moody  # type: ignore[method-assign]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(janitor.watch)
            await house.clock.someone_sleeps()
            assert janitor.looks == 0
            before = house.clock.seconds
            await house.clock.wake()
            await anyio.wait_all_tasks_blocked()
            assert (janitor.looks, house.clock.seconds - before) == (1, LOOK_S)
            tasks.cancel_scope.cancel()


async def asleep(house: House) -> None:
    """A run is active and nobody drives it: its driver was told that somebody else settles things first."""
    await house.create()
    driver = house.registry.driver(ID)
    assert driver is not None
    driver.held = True
    await house.say(SECRET)
    driver.held = False
