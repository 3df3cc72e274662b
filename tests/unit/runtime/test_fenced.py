"""What this daemon knows of a conversation can become void: another one has it, or a commit happened unheard.

And a ledger that is away for a moment delays whoever reads or reserves as it delays whoever writes; no run ends of it.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from agent_ls.core.call import CallFact
from agent_ls.core.conversation import Mode
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.items import Item
from agent_ls.core.run import Run, RunStatus
from agent_ls.ports.ledger import Commit, Committed
from agent_ls.ports.provider import TextFrame
from tests.unit.runtime.house import ID, HandTool, House, Say, full_disk, open_house
from tests.unit.runtime.test_take_over import UNKNOWN, crashed

pytestmark = pytest.mark.anyio

RUN = f"{ID}.r1"
ONE = ("edit", json.dumps({"name": "one", "keys": ["file:///w/a"]}))


def taken_by_another(house: House) -> None:
    """Another daemon, which is alive, has claimed it."""
    store = house.ledger.store
    store.leases["successor"] = 1.0
    store.owners[ID], store.epochs[ID] = "successor", store.epochs[ID] + 1


def runs(house: House) -> list[Run]:
    """As the ledger keeps them."""
    return [entity for entity in house.ledger.store.conversations[ID].current.values() if isinstance(entity, Run)]


def once(trouble: Exception, call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    left = [trouble]

    async def moody(*given: Any) -> Any:
        if left:
            raise left.pop()
        return await call(*given)

    return moody


async def taken_in_the_middle(house: House, tool: HandTool) -> Any:
    """Another daemon claims it while a call runs here; who drives it here."""
    house.model.says("", ONE)
    await house.create()
    await house.say()
    await tool.begun("one")
    taken_by_another(house)
    return house.registry.driver(ID)


async def test_who_was_taken_over_ends_its_work_there_and_forgets_what_it_knew() -> None:
    tool = HandTool(waits=True)
    async with open_house(tool) as house:
        driver = await taken_in_the_middle(house, tool)
        tool.finish("one")
        await driver.over()
        assert house.registry.live(ID) is None
        held = await house.registry.actor(ID)
        assert isinstance(held, Refusal)
        assert (held.code, house.services.supervisor.crashes) == (Code.CONVERSATION_BUSY, 0)


async def test_a_command_that_finds_it_taken_over_ends_what_still_runs_here() -> None:
    tool = HandTool(waits=True)
    async with open_house(tool) as house:
        driver = await taken_in_the_middle(house, tool)
        refused = await house.say("more")
        assert isinstance(refused, Refusal)
        assert refused.code is Code.STALE_EPOCH
        await driver.over()
        assert tool.cancelled == ["one"]


async def test_a_call_does_not_begin_on_an_answer_that_came_after_the_lease() -> None:
    """Suspended while the start was recorded, and taken over meanwhile: the record is there, the right is gone."""
    tool = HandTool()
    async with open_house(tool) as house:
        append = house.ledger.append

        async def slept(commit: Commit) -> Committed | Refusal:
            committed = await append(commit)
            if any(isinstance(fact.entity, Item) and fact.name == CallFact.STARTED for fact in commit.facts):
                house.clock.seconds += 60
                taken_by_another(house)
            return committed

        house.ledger.append = slept  # type: ignore[method-assign]
        house.model.says("", ONE)
        await house.create()
        await house.say()
        driver = house.registry.driver(ID)
        await driver.over()
        assert (tool.began, house.registry.live(ID)) == ([], None)


async def test_who_comes_while_it_is_made_here_and_was_made_elsewhere_is_not_given_an_empty_one() -> None:
    """Suspended between the claim of a conversation that was not there and its first commit."""
    async with open_house() as house, open_house(store=house.ledger.store, boot="b2") as other:
        claim, claimed, goes_on = house.ledger.claim, anyio.Event(), anyio.Event()

        async def slow(conversation_id: str, owner: str) -> int | Refusal:
            epoch = await claim(conversation_id, owner)
            claimed.set()
            await goes_on.wait()
            return epoch

        house.ledger.claim = slow  # type: ignore[method-assign]
        found: list[Any] = []

        async def make() -> None:
            with pytest.raises(AssertionError):
                await house.create()

        async def come() -> None:
            found.append(await house.registry.actor(ID))

        async with anyio.create_task_group() as group:
            group.start_soon(make)
            await claimed.wait()
            group.start_soon(come)
            await other.create()
            goes_on.set()
        assert [came.code if isinstance(came, Refusal) else came.state.exists for came in found] == [
            Code.CONVERSATION_BUSY
        ]


async def test_what_happened_unheard_is_read_from_the_ledger_and_the_run_goes_on() -> None:
    """The answer to a commit was lost, so the next one is refused: as the PostgreSQL engine does it."""
    tool = HandTool(recovered=None)
    async with open_house(tool) as house:
        gate = anyio.Event()
        house.model.says("", ONE, gate=gate)
        house.model.says("done")
        house.model.says("done")
        await house.create()
        await house.say()
        await house.asked()
        house.ledger.moods = [Refusal(Code.STALE_EPOCH, "An earlier change was committed after all.")]
        gate.set()
        await house.until(lambda: any(run.ended for run in runs(house)))
        assert [run.status for run in runs(house)] == [RunStatus.COMPLETED]
        assert house.services.supervisor.crashes == 0


async def test_text_in_flight_of_a_conversation_that_moved_is_forgotten() -> None:
    async with open_house() as house:
        gate = anyio.Event()
        house.model.script.append(Say(Refusal, (TextFrame(0, "half"),), gate))  # type: ignore[arg-type]
        await house.create()
        await house.say()
        await house.asked()
        driver = house.registry.driver(ID)
        taken_by_another(house)
        await house.say("more")
        await driver.over()
        await anyio.wait_all_tasks_blocked()
        assert house.services.feed.streams(ID) == []


async def test_recovery_waits_for_a_ledger_that_is_away_whatever_it_asks_of_it() -> None:
    tool = HandTool(recovered=UNKNOWN)
    async with open_house(tool, store=await crashed(), boot="b2") as house:
        ledger = house.ledger
        for name in ("reserve_numbers", "partials", "drop_partials"):
            setattr(ledger, name, once(full_disk(), getattr(ledger, name)))
        house.model.says("done")
        async with anyio.create_task_group() as group:
            group.start_soon(house.registry.recover_all, 5)
            for _ in range(3):
                await house.clock.wake()
        assert [request.item_id for request in house.actor.state.pending.values()] == [house.calls()[0].id]
        assert house.services.supervisor.crashes == 0


async def test_a_number_for_a_request_is_waited_for() -> None:
    async with open_house(HandTool()) as house:
        house.ledger.reserve_numbers = once(full_disk(), house.ledger.reserve_numbers)  # type: ignore[method-assign]
        house.model.says("", ONE)
        await house.create(Mode.ASK)
        await house.say()
        await house.clock.wake()
        await house.until(lambda: bool(house.actor.state.pending))
        assert house.actor.state.runs[RUN].status is RunStatus.RUNNING
