"""What the driver ends on the way: an attempt that is superseded, one call, and what does not let itself be ended."""

import json

import anyio
import pytest

from agent_ls.core.attempt import AttemptStatus
from agent_ls.core.dispatch import Dispatch
from agent_ls.core.interrupt import interrupt_call
from agent_ls.core.items import AssistantMessage, ItemStatus, Notice, ToolResult
from agent_ls.core.messages import Reply, Stop
from agent_ls.core.run import Interrupt, RunStatus
from agent_ls.ports.checkpoints import Captured, CaptureStatus
from agent_ls.ports.provider import TextFrame
from agent_ls.ports.tools import Prepared, ToolContext
from tests.unit.runtime.house import ID, HandTool, House, Say, open_house

pytestmark = pytest.mark.anyio

RUN = f"{ID}.r1"


def does(name: str) -> tuple[str, str]:
    return "edit", json.dumps({"name": name, "keys": [f"file:///w/{name}"]})


def said(house: House) -> list[tuple[str, ItemStatus]]:
    items = house.actor.state.items.values()
    return [(item.payload.text, item.status) for item in items if isinstance(item.payload, AssistantMessage)]


class Stubborn(HandTool):
    """A tool that does not let itself be ended."""

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        with anyio.CancelScope(shield=True):
            return await super().run(prepared, context)


class Album:
    """Checkpoints that wait for the test."""

    def __init__(self, captured: Captured) -> None:
        self.captured = captured
        self.asked = anyio.Event()
        self.gate = anyio.Event()

    async def capture(self, conversation_id: str, run_id: str) -> Captured:
        self.asked.set()
        await self.gate.wait()
        return self.captured


async def test_a_restart_in_mid_answer_keeps_what_was_said_and_asks_anew() -> None:
    async with open_house() as house:
        house.model.script.append(Say(Reply((), Stop.END_TURN), frames=[TextFrame(0, "I thi")], gate=anyio.Event()))
        house.model.says("done")
        await house.create()
        await house.say("do it")
        await house.asked()
        await house.say("no, this", Dispatch.RESTART)
        await house.rest()
        assert said(house) == [("I thi", ItemStatus.INTERRUPTED), ("done", ItemStatus.COMPLETED)]
        statuses = [attempt.status for attempt in house.actor.state.attempts.values()]
        assert statuses == [AttemptStatus.SUPERSEDED, AttemptStatus.COMPLETED]
        assert len(house.actor.state.runs) == 1


async def test_a_restart_ends_what_runs_before_the_model_is_asked_anew() -> None:
    tool = HandTool(waits=True)
    async with open_house(tool) as house:
        house.model.says("", does("one"))
        house.model.says("done")
        await house.create()
        await house.say("do it")
        await tool.begun("one")
        await house.say("no, this", Dispatch.RESTART)
        await house.rest()
        assert tool.cancelled == ["one"]
        (result,) = house.results()
        assert result == (
            "interrupted: It had begun when the person sent a message that changed what to do, and may have had "
            "effects.\nout of one"
        )
        assert said(house) == [("done", ItemStatus.COMPLETED)]


async def test_one_call_can_be_stopped_and_the_run_goes_on() -> None:
    tool = HandTool(waits=True)
    async with open_house(tool) as house:
        house.model.says("", does("one"), does("two"))
        house.model.says("done")
        await house.create()
        await house.say("do it")
        await tool.begun("one")
        await tool.begun("two")
        first = house.calls()[0]
        stop = Interrupt(by="ada", from_="nvim", at="t")
        for _ in range(2):
            await house.command(lambda state, at: interrupt_call(state, RUN, first.id, stop=stop))
        await house.until(lambda: house.calls()[0].call.result is not None)
        tool.finish("two")
        await house.rest()
        assert house.results() == [
            "interrupted: It had begun when the person stopped it, and may have had effects.\nout of one",
            "did two",
        ]
        assert house.actor.state.runs[RUN].status is RunStatus.COMPLETED


async def test_what_does_not_let_itself_be_ended_is_left_behind_and_that_is_said() -> None:
    tool = Stubborn(waits=True)
    async with open_house(tool) as house:
        house.model.says("", does("one"))
        await house.create()
        await house.say("do it")
        await tool.begun("one")
        await house.stop(RUN)
        await house.clock.wake()
        await house.until(lambda: house.actor.state.active is None)
        codes = [i.payload.code for i in house.actor.state.items.values() if isinstance(i.payload, Notice)]
        assert (house.actor.state.runs[RUN].status, codes) == (RunStatus.INTERRUPTED, ["not_over"])
        assert house.results() == ["unknown: No result was recorded before the run has ended."]
        house.model.says("still here")
        await house.say("and now?")
        await house.until(lambda: house.actor.state.active is None)
        assert said(house) == [("still here", ItemStatus.COMPLETED)]
        tool.finish("one")


@pytest.mark.parametrize(
    ("captured", "told"),
    [
        (Captured(CaptureStatus.READY), []),
        (Captured(CaptureStatus.MISSING), []),
        (Captured(CaptureStatus.ERROR, "the disk is full."), ["checkpoint_failed"]),
    ],
)
async def test_a_run_is_over_once_its_files_are_kept_and_what_is_said_meanwhile_comes_next(
    captured: Captured, told: list[str]
) -> None:
    album = Album(captured)
    async with open_house(HandTool()) as house:
        house.services.checkpoints = album
        house.model.says("", does("one"))
        house.model.says("done")
        house.model.says("next")
        await house.create()
        await house.say("do it")
        await album.asked.wait()
        assert house.actor.state.runs[RUN].status is RunStatus.FINALIZING
        sent = await house.say("and this", Dispatch.AUTO)
        assert isinstance(sent, dict)
        assert sent["disposition"] == "queued"
        stopped = await house.stop(RUN)
        assert isinstance(stopped, dict)
        assert stopped["status"] == "finalizing"
        album.gate.set()
        await house.rest()
        assert house.actor.state.runs[RUN].status is RunStatus.COMPLETED
        codes = [i.payload.code for i in house.actor.state.items.values() if isinstance(i.payload, Notice)]
        assert codes == told
        assert [text for text, _ in said(house)] == ["done", "next"]
