"""A successor takes over: it settles what had begun, asks where nobody knows, and then simply goes on."""

import json
from typing import Any

import anyio
import pytest

from agent_ls.adapters.ledger.memory import Store
from agent_ls.core.items import Notice, ResultStatus, ToolResult
from agent_ls.core.messages import Reply
from agent_ls.core.request import Decision, RequestKind
from agent_ls.core.run import RunStatus
from agent_ls.ports.provider import TextFrame
from agent_ls.ports.tools import Replay
from agent_ls.runtime.feed import FRAME_S
from tests.unit.runtime.house import ID, HandTool, House, Say, open_house

pytestmark = pytest.mark.anyio

UNKNOWN = ToolResult(status=ResultStatus.UNKNOWN, output="half done")


def does(name: str) -> tuple[str, str]:
    return "edit", json.dumps({"name": name, "keys": ["file:///w/a"]})


async def crashed(*, stopped: bool = False) -> Store:
    """What a daemon leaves that was killed while a call ran: nothing is written down after that."""
    tool = HandTool(waits=True)
    async with open_house(tool) as house:
        house.model.says("", does("one"))
        await house.create()
        await house.say()
        await tool.begun("one")
        if stopped:
            house.registry.driver(ID).held = True  # type: ignore[union-attr]
            house.actor.after_commit = lambda _: None
            await house.stop()
        await house.ledger.claim(ID, "successor")
        return house.ledger.store


async def taken_over(house: House) -> None:
    house.model.says("done")
    await house.registry.recover_all(5)


async def test_what_certainly_did_not_happen_runs_again_once() -> None:
    tool = HandTool(recovered=None)
    async with open_house(tool, store=await crashed(), boot="b2") as house:
        await taken_over(house)
        await house.rest()
        assert (tool.began, house.results()) == (["one"], ["did one"])
        assert house.actor.state.runs[f"{ID}.r1"].status is RunStatus.COMPLETED


async def test_a_tool_that_may_be_repeated_is_repeated_without_asking_anybody() -> None:
    tool = HandTool(replay=Replay.SAFE, recovered=UNKNOWN)
    async with open_house(tool, store=await crashed(), boot="b2") as house:
        await taken_over(house)
        await house.rest()
        assert tool.began == ["one"]


async def test_what_was_found_out_is_the_result() -> None:
    done = ToolResult(status=ResultStatus.OK, output="it was written")
    tool = HandTool(recovered=done)
    async with open_house(tool, store=await crashed(), boot="b2") as house:
        await taken_over(house)
        await house.rest()
        assert (tool.began, house.results()) == ([], ["it was written"])


@pytest.mark.parametrize(
    ("recovered", "told"),
    [
        (UNKNOWN, "unknown: half done"),
        (RuntimeError("boom"), "unknown: The tool failed: RuntimeError: boom"),
        (None, "unknown: The daemon ended while this ran; whether it finished is not known."),
    ],
)
@pytest.mark.parametrize("option", ["tell", "rerun"])
async def test_where_nobody_knows_the_person_decides(recovered: Any, told: str, option: str) -> None:
    tool = HandTool(recovered=recovered or UNKNOWN)
    async with open_house(tool, store=await crashed(), boot="b2") as house:
        if recovered is None:
            del house.services.toolbox.tools["edit"]
        await taken_over(house)
        (request,) = house.actor.state.pending.values()
        assert (request.kind, house.results()) == (RequestKind.QUESTION, [told])
        house.services.toolbox.tools["edit"] = tool
        await house.answer(request.item_id, Decision.ANSWER, option_id=option)
        await house.rest()
        assert (tool.began, house.results()) == (([], [told]) if option == "tell" else (["one"], ["did one"]))


async def test_a_stop_that_was_noted_is_finished_and_nothing_is_run_or_asked() -> None:
    tool = HandTool(recovered=UNKNOWN)
    async with open_house(tool, store=await crashed(stopped=True), boot="b2") as house:
        await taken_over(house)
        await house.rest()
        assert (tool.began, house.results()) == ([], ["unknown: half done"])
        assert house.actor.state.runs[f"{ID}.r1"].status is RunStatus.INTERRUPTED
        assert house.model.requests == []


async def test_a_half_answer_is_said_to_be_dropped_and_the_model_is_asked_again() -> None:
    async with open_house() as house:
        house.model.script.append(Say(Reply((), "end_turn"), [TextFrame(0, "half")], anyio.Event()))  # type: ignore[arg-type]
        await house.create()
        await house.say()
        await house.asked()
        house.services.supervisor.start("feed", house.services.feed.pump)
        for _ in range(round(1 / FRAME_S) + 2):
            await house.clock.wake()
        await house.ledger.claim(ID, "successor")
        store = house.ledger.store
    async with open_house(store=store, boot="b2") as house:
        await taken_over(house)
        await house.rest()
        notes = [item.payload for item in house.actor.state.items.values() if isinstance(item.payload, Notice)]
        assert [note.code for note in notes] == ["partial_dropped"]
        assert notes[0].message.endswith("half")
        assert [request.step_id for request in house.model.requests] == [f"{ID}.r1.a1.s1.4"]
        assert store.partials == {}
