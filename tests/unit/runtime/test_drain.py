"""A daemon that is told to end: what runs comes to its commit, nothing new begins, and what is said is kept."""

import json

import anyio
import pytest

from agent_ls.core.errors import Refusal
from agent_ls.core.items import CallState
from agent_ls.core.run import RunStatus
from agent_ls.ports.tools import ToolEffect
from agent_ls.runtime.drain import Drain, DrainMode
from tests.unit.runtime.house import ID, HandTool, open_house, owed_effects

pytestmark = pytest.mark.anyio

RUN = f"{ID}.r1"


def does(name: str, key: str = "file:///w/a") -> tuple[str, str]:
    return "edit", json.dumps({"name": name, "keys": [key]})


async def test_a_step_is_finished_and_the_next_one_is_not_begun() -> None:
    async with open_house(HandTool()) as house:
        gate = anyio.Event()
        house.model.says("first", does("one"), gate=gate)
        await house.create()
        await house.say()
        await house.asked()
        drain = house.services.drain
        drain.begin(DrainMode.HANDOFF, 60)
        assert drain.at_work == [ID]
        gate.set()
        assert await drain.settled()
        (call,) = house.calls()
        assert (call.call.state, house.results()) == (CallState.APPROVED, ["-"])
        assert [effect.id for effect in owed_effects(house.ledger.store)] == [f"{RUN}.a1"]
        assert len(house.model.requests) == 1


async def test_a_call_in_line_for_its_lock_does_not_begin_when_the_one_before_it_ends() -> None:
    tool = HandTool(waits=True)
    async with open_house(tool) as house:
        house.model.says("", does("one"), does("two"))
        await house.create()
        await house.say()
        await tool.begun("one")
        house.services.drain.begin(DrainMode.HANDOFF, 60)
        tool.finish("one")
        assert await house.services.drain.settled()
        assert (tool.began, house.results()) == (["one"], ["did one", "-"])


async def test_a_message_is_committed_and_not_run_and_a_stop_still_ends_a_run() -> None:
    tool = HandTool(waits=True, effect=ToolEffect.EDIT)
    async with open_house(tool) as house:
        house.model.says("", does("one"))
        await house.create()
        await house.say()
        await tool.begun("one")
        house.services.drain.begin(DrainMode.SHUTDOWN, 60)
        said = await house.say("and then?")
        assert not isinstance(said, Refusal)
        assert not isinstance(await house.stop(), Refusal)
        assert await house.services.drain.settled()
        runs = house.actor.state.runs
        assert [runs[f"{ID}.r{n}"].status for n in (1, 2)] == [RunStatus.INTERRUPTED, RunStatus.QUEUED]
        assert len(house.model.requests) == 1


async def test_after_the_deadline_what_runs_is_abandoned_with_its_truthful_result() -> None:
    tool = HandTool(waits=True)
    async with open_house(tool) as house:
        house.model.says("", does("one"))
        await house.create()
        await house.say()
        await tool.begun("one")
        drain = house.services.drain
        drain.begin(DrainMode.SHUTDOWN, 0)
        assert not await drain.settled()
        house.registry.abandon()
        assert await drain.settled(10)
        assert tool.cancelled == ["one"]
        (result,) = house.results()
        assert result.startswith("interrupted: It had begun when the daemon was stopped")
        assert house.actor.state.runs[RUN].status is RunStatus.RUNNING


async def test_asked_again_the_earlier_deadline_and_the_shutdown_count() -> None:
    drain = Drain()
    assert (drain.begun, drain.left_s) == (False, float("inf"))
    with drain.working("c1"), anyio.fail_after(10):
        drain.begin(DrainMode.SHUTDOWN, 600)
        async with anyio.create_task_group() as tasks:
            settled: list[bool] = []

            async def wait() -> None:
                settled.append(await drain.settled())

            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            drain.begin(DrainMode.HANDOFF, 0)
    assert (drain.mode, settled, drain.left_s) == (DrainMode.SHUTDOWN, [False], 0)
