"""The driver does what is owed until a person has to answer, and never leaves a run that neither goes on nor ends."""

import json
from dataclasses import replace

import anyio
import pytest

from agent_ls.core.items import AssistantMessage, ItemKind, ItemStatus, Notice
from agent_ls.core.messages import Reply, ResultsTurn, Stop, TextPart
from agent_ls.core.request import Decision
from agent_ls.core.run import RunStatus
from agent_ls.ports.provider import Cause, Failure, TextFrame
from agent_ls.ports.tools import ToolEffect
from agent_ls.runtime.services import Limits
from tests.unit.runtime.house import ID, HandTool, House, Say, open_house

pytestmark = pytest.mark.anyio


def does(name: str, *, tool: str = "edit", asks: bool = False) -> tuple[str, str]:
    return tool, json.dumps({"name": name, "keys": [f"file:///w/{name}"], "writes": ["/out/x"] if asks else ["/w/x"]})


def status(house: House, ordinal: int = 1) -> RunStatus:
    return house.actor.state.runs[f"{ID}.r{ordinal}"].status


def said(house: House) -> list[tuple[str, ItemStatus]]:
    items = house.actor.state.items.values()
    return [(item.payload.text, item.status) for item in items if isinstance(item.payload, AssistantMessage)]


def notes(house: House) -> list[str]:
    return [item.payload.code for item in house.actor.state.items.values() if isinstance(item.payload, Notice)]


async def test_the_model_is_asked_until_it_makes_no_calls_and_sees_every_result() -> None:
    async with open_house(HandTool()) as house:
        house.model.says("I edit", does("one"), does("two"))
        house.model.says("done")
        await house.create()
        await house.say("please")
        await house.rest()
        assert status(house) is RunStatus.COMPLETED
        assert said(house) == [("I edit", ItemStatus.COMPLETED), ("done", ItemStatus.COMPLETED)]
        last = house.model.requests[1].messages[-1]
        assert isinstance(last, ResultsTurn)
        assert [result.text for result in last.results] == ["did one", "did two"]
        assert [request.step_id for request in house.model.requests] == [f"{ID}.r1.a1.s1.4", f"{ID}.r1.a1.s2.4"]
        assert house.ledger.store.effects == {}
        assert house.services.supervisor.crashes == 0


async def test_it_rests_while_a_person_has_to_answer_and_goes_on_with_the_answer() -> None:
    tool = HandTool()
    async with open_house(tool) as house:
        house.model.says("", does("one", asks=True))
        house.model.says("done")
        await house.create()
        await house.say()
        driver = house.registry.driver(ID)
        assert driver is not None
        await house.until(lambda: bool(house.actor.state.pending))
        while driver.live:
            await anyio.lowlevel.checkpoint()
        await house.answer(house.calls()[0].id, Decision.ALLOW)
        await house.rest()
        assert (tool.began, status(house)) == (["one"], RunStatus.COMPLETED)


async def test_waking_it_often_asks_the_model_once() -> None:
    gate = anyio.Event()
    async with open_house() as house:
        house.model.says("done", gate=gate)
        await house.create()
        await house.say()
        await house.asked()
        driver = house.registry.driver(ID)
        assert driver is not None
        for _ in range(5):
            driver.wake()
            await anyio.lowlevel.checkpoint()
        gate.set()
        await house.rest()
        assert len(house.model.requests) == 1


async def test_messages_that_wait_run_one_after_the_other() -> None:
    gate = anyio.Event()
    async with open_house() as house:
        house.model.says("first", gate=gate)
        house.model.says("second")
        await house.create()
        await house.say("one")
        await house.say("two")
        await house.asked()
        assert status(house, 2) is RunStatus.QUEUED
        gate.set()
        await house.rest()
        assert [text for text, _ in said(house)] == ["first", "second"]
        assert (status(house), status(house, 2)) == (RunStatus.COMPLETED, RunStatus.COMPLETED)


async def test_when_the_model_fails_the_run_says_why_and_what_was_on_the_screen_stays() -> None:
    async with open_house(limits=Limits(retries_per_run=0)) as house:
        failure = Failure(Cause.RATE_LIMITED, "Too many requests.", "429")
        house.model.script.append(Say(failure, frames=[TextFrame(0, "half "), TextFrame(0, "an answer")]))
        await house.create()
        await house.say()
        await house.rest()
        assert status(house) is RunStatus.FAILED
        assert said(house) == [("half an answer", ItemStatus.INTERRUPTED)]
        error = house.actor.state.runs[f"{ID}.r1"].error
        assert error is not None
        assert (error["code"], error["message"]) == ("rate_limited", "Too many requests. (429)")


async def test_a_stop_ends_the_request_at_once_and_keeps_what_was_said() -> None:
    async with open_house() as house:
        house.model.script.append(Say(Reply((), Stop.END_TURN), frames=[TextFrame(0, "half")], gate=anyio.Event()))
        await house.create()
        await house.say()
        await house.asked()
        await house.stop()
        await house.rest()
        assert (status(house), said(house)) == (RunStatus.INTERRUPTED, [("half", ItemStatus.INTERRUPTED)])
        assert house.services.feed.streams(ID) == []


async def test_a_stop_just_after_the_answer_came_does_not_take_its_text_off_the_screen() -> None:
    tool = HandTool(prepare_gate=anyio.Event())
    async with open_house(tool) as house:
        house.model.says("whole", does("one"))
        house.model.script[0] = replace(house.model.script[0], frames=[TextFrame(0, "whole")])
        await house.create()
        await house.say()
        await tool.preparing.wait()
        await house.stop()
        assert tool.prepare_gate is not None
        tool.prepare_gate.set()
        await house.rest()
        assert (status(house), said(house)) == (RunStatus.INTERRUPTED, [("whole", ItemStatus.INTERRUPTED)])
        assert house.calls() == []


async def test_an_answer_of_nothing_at_all_is_a_failure_with_a_hint() -> None:
    async with open_house(limits=Limits(retries_per_run=0)) as house:
        house.model.script.append(Say(Reply((), Stop.END_TURN)))
        await house.create()
        await house.say()
        await house.rest()
        assert (status(house), notes(house)) == (RunStatus.FAILED, ["provider_error"])


async def test_too_many_steps_end_in_a_notice_and_go_on_goes_on() -> None:
    async with open_house(HandTool(), limits=Limits(steps_per_run=2)) as house:
        for name in ("one", "two"):
            house.model.says("", does(name))
        house.model.says("done")
        await house.create()
        await house.say()
        await house.rest()
        assert (status(house), notes(house)) == (RunStatus.FAILED, ["limit_reached"])
        await house.say("go on")
        await house.rest()
        assert status(house, 2) is RunStatus.COMPLETED


async def test_a_mistake_of_ours_ends_the_run_with_a_sentence_and_the_next_message_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_house() as house:
        house.model.script.append(Say(Reply((TextPart("never"),), Stop.END_TURN)))
        await house.create()
        call, broken = house.model.call, [RuntimeError("bug")]

        async def once_broken(request, emit):
            if broken:
                raise broken.pop()
            return await call(request, emit)

        monkeypatch.setattr(house.model, "call", once_broken)
        await house.say()
        await house.rest()
        assert (status(house), notes(house)) == (RunStatus.FAILED, ["internal_error"])
        await house.say()
        await house.rest()
        assert status(house, 2) is RunStatus.COMPLETED


async def test_calls_cut_off_by_a_mistake_of_ours_do_not_blame_the_person(monkeypatch: pytest.MonkeyPatch) -> None:
    slow, broken = HandTool(waits=True), HandTool(name="other")
    async with open_house(slow, broken) as house:
        house.model.says("", does("one"), does("two", tool="other", asks=True))
        await house.create()
        await house.say()
        await slow.begun("one")

        def bug(uri: str) -> str:
            raise RuntimeError("bug")

        monkeypatch.setattr(house.services.locks, "hold", bug)
        await house.answer(house.calls()[1].id, Decision.ALLOW)
        await house.rest()
        assert house.results()[0].startswith("interrupted: It had begun when the run was ended by a mistake")
        assert notes(house) == ["internal_error"]


async def test_a_provider_that_is_not_there_fails_the_run_with_what_to_do() -> None:
    async with open_house() as house:
        gone = Failure(Cause.NOT_FOUND, "There is no provider `p`.")
        house.registry.services = replace(house.services, models=lambda name: gone)
        await house.create()
        await house.say()
        await house.rest()
        error = house.actor.state.runs[f"{ID}.r1"].error
        assert error is not None
        assert (error["code"], bool(error["hint"])) == ("provider_unavailable", True)


async def test_reads_alone_cost_no_commit_of_their_own() -> None:
    read = HandTool(name="read", effect=ToolEffect.READ)
    async with open_house(read) as house:
        house.model.says("", does("one", tool="read"), does("two", tool="read"))
        house.model.says("done")
        await house.create()
        await house.say()
        await house.rest()
        assert house.results() == ["did one", "did two"]
        assert [item.kind for item in house.actor.state.items.values()].count(ItemKind.TOOL_CALL) == 2
