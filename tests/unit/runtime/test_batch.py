"""Calls of a step: what may go at once does, the rest in order, and each ends with one truthful result."""

import json
from dataclasses import replace
from typing import Any

import pytest

from agent_ls.core.conversation import Mode
from agent_ls.core.draft import Decision as Decided
from agent_ls.core.draft import Draft
from agent_ls.core.errors import Refusal
from agent_ls.core.events import ConversationFact
from agent_ls.core.items import CallState, Item
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Decision
from agent_ls.core.rules import Rule, Ruling, Scope
from agent_ls.core.run import RunStatus
from agent_ls.ports.tools import ToolEffect
from tests.unit.runtime.house import ID, HandTool, House, full_disk, open_house

pytestmark = pytest.mark.anyio

FILE, OTHER = "file:///w/a", "file:///w/b"


def editor(**fields: Any) -> HandTool:
    return HandTool(waits=True, **fields)


def reader(**fields: Any) -> HandTool:
    return HandTool(name="read", effect=ToolEffect.READ, **fields)


def does(name: str, *keys: str, tool: str = "edit", asks: bool = False) -> tuple[str, str]:
    more = {"writes": ["/elsewhere/x"]} if asks else {}
    return tool, json.dumps({"name": name, "keys": keys, **more})


async def begin(house: House, *calls: tuple[str, str]) -> list[Item]:
    """The model makes these calls, and is done when it has the results."""
    house.model.says("", *calls)
    house.model.says("done")
    await house.create()
    await house.say()
    await house.until(lambda: len(house.calls()) == len(calls))
    return house.calls()


def run_status(house: House) -> RunStatus:
    return house.actor.state.runs[f"{ID}.r1"].status


async def test_calls_that_share_nothing_run_at_the_same_time() -> None:
    tool, read = editor(), reader(waits=True)
    async with open_house(tool, read) as house:
        await begin(house, does("one", FILE), does("two", OTHER), does("three", tool="read"))
        for found, name in ((tool, "one"), (tool, "two"), (read, "three")):
            await found.begun(name)
        for found, name in ((tool, "two"), (read, "three"), (tool, "one")):
            found.finish(name)
        await house.rest()
        assert house.results() == ["did one", "did two", "did three"]


async def test_writes_to_one_file_go_in_the_order_of_the_model_and_each_knows_what_the_one_before_wrote() -> None:
    tool = editor()
    async with open_house(tool) as house:
        await begin(house, does("one", FILE), does("two", FILE), does("three", FILE))
        for name in ("one", "two", "three"):
            await tool.begun(name)
            assert tool.began[-1] == name
            tool.finish(name)
        await house.rest()
        assert tool.ended == ["one", "two", "three"]
        assert [tool.seen[name].get(FILE) for name in ("one", "two", "three")] == [None, "one", "two"]


async def test_a_call_behind_an_undecided_one_on_the_same_file_waits_for_the_person() -> None:
    tool = HandTool()
    async with open_house(tool) as house:
        first, _, _ = await begin(house, does("one", FILE, asks=True), does("two", FILE), does("three", OTHER))
        await house.until(lambda: house.results()[2] == "did three")
        assert tool.began == ["three"]
        await house.answer(first.id, Decision.ALLOW)
        await house.rest()
        assert tool.began == ["three", "one", "two"]


async def test_a_denial_waits_for_nobody_and_lets_go_what_waited_behind_it() -> None:
    tool = editor()
    async with open_house(tool) as house:
        _, asked, behind = await begin(house, does("slow", OTHER), does("no", FILE, asks=True), does("behind", FILE))
        await tool.begun("slow")
        assert await house.answer(asked.id, Decision.DENY, reason="not that") is not None
        assert house.results()[1] == "denied: not that"
        await tool.begun("behind")
        assert house.actor.state.items[behind.id].call.state is CallState.STARTED
        tool.finish("behind")
        tool.finish("slow")
        await house.rest()
        assert tool.began == ["slow", "behind"]


async def test_a_stop_reaches_a_call_that_waits_for_a_lock_and_it_never_begins() -> None:
    tool = editor()
    async with open_house(tool) as house:
        await begin(house, does("one", FILE), does("two", FILE))
        await tool.begun("one")
        await house.stop()
        await house.rest()
        assert (tool.began, tool.cancelled) == (["one"], ["one"])
        begun, waiting = house.results()
        assert (
            begun == "interrupted: It had begun when the person stopped the run, and may have had effects.\nout of one"
        )
        assert waiting == "not_run: Not run: the person stopped the run."
        assert run_status(house) is RunStatus.INTERRUPTED
        assert house.services.locks.held() == ()


async def test_a_daemon_that_stops_says_so_of_what_it_cut_off() -> None:
    tool = editor()
    async with open_house(tool) as house:
        await begin(house, does("one", FILE))
        await tool.begun("one")
    assert house.results() == [
        "interrupted: It had begun when the daemon was stopped, and may have had effects.\nout of one"
    ]
    assert run_status(house) is RunStatus.RUNNING


async def test_a_call_runs_once_although_the_ledger_refuses_for_a_while() -> None:
    tool = editor()
    async with open_house(tool) as house:
        house.model.says("", does("one", FILE, asks=True))
        house.model.says("done")
        await house.create()
        await house.say()
        await house.until(lambda: bool(house.actor.state.pending))
        await house.answer(house.calls()[0].id, Decision.ALLOW)
        house.ledger.moods = [full_disk(), full_disk()]
        await house.clock.wake()
        await house.clock.wake()
        await tool.begun("one")
        house.ledger.moods = [full_disk()]
        tool.finish("one")
        await house.clock.wake()
        await house.rest()
        assert (tool.began, house.results()) == (["one"], ["did one"])
        assert run_status(house) is RunStatus.COMPLETED


async def test_a_result_that_is_known_is_not_lost_to_a_stop_while_the_ledger_refuses() -> None:
    tool = editor()
    async with open_house(tool) as house:
        await begin(house, does("one", FILE))
        await tool.begun("one")
        house.ledger.moods = [full_disk()]
        tool.finish("one")
        await house.clock.someone_sleeps()
        await house.stop()
        await house.rest()
        assert house.results() == ["did one"]
        assert run_status(house) is RunStatus.INTERRUPTED


@pytest.mark.parametrize("tool", [HandTool(output="x" * 100_000), HandTool(output="xxx", keeps=b"all of it")])
async def test_a_large_result_waits_for_a_full_disk_like_any_other(
    tool: HandTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_house(tool) as house:
        put, refused = house.ledger.put_blob, [full_disk()]

        async def put_blob(content: bytes) -> str:
            if refused:
                raise refused.pop()
            return await put(content)

        monkeypatch.setattr(house.ledger, "put_blob", put_blob)
        await begin(house, does("one", FILE))
        await house.clock.wake()
        await house.rest()
        assert run_status(house) is RunStatus.COMPLETED
        assert house.results()[0].startswith("xxx")


async def test_a_tool_that_fails_is_a_result_for_the_model_and_its_neighbours_go_on() -> None:
    broken, fine = HandTool(trouble=RuntimeError("boom")), HandTool(name="other", waits=True)
    async with open_house(broken, fine) as house:
        await begin(house, does("one", FILE), does("two", OTHER, tool="other"))
        await fine.begun("two")
        await house.until(lambda: house.results()[0] != "-")
        fine.finish("two")
        await house.rest()
        assert house.results() == ["error: The tool failed: RuntimeError: boom", "did two"]
        assert run_status(house) is RunStatus.COMPLETED


async def test_a_read_that_fails_is_a_result_as_well() -> None:
    async with open_house(reader(trouble=RuntimeError("boom"))) as house:
        await begin(house, does("one", tool="read"))
        await house.rest()
        assert house.results() == ["error: The tool failed: RuntimeError: boom"]
        assert run_status(house) is RunStatus.COMPLETED


async def test_a_tool_that_fails_while_it_looks_is_a_result_too() -> None:
    async with open_house(HandTool(prepare_trouble=RuntimeError("boom"))) as house:
        await begin(house, does("one", FILE))
        await house.rest()
        assert house.results() == ["error: The tool failed: RuntimeError: boom"]
        assert run_status(house) is RunStatus.COMPLETED


async def test_a_tool_that_fails_while_it_looks_again_leaves_its_neighbours_alone() -> None:
    broken, fine = HandTool(), HandTool(name="other", waits=True)
    async with open_house(broken, fine) as house:
        asked, _ = await begin(house, does("one", FILE, asks=True), does("two", OTHER, tool="other"))
        await fine.begun("two")
        broken.prepare_trouble = RuntimeError("boom")
        await house.answer(asked.id, Decision.ALLOW)
        await house.until(lambda: house.results()[0] != "-")
        fine.finish("two")
        await house.rest()
        assert house.results() == ["error: The tool failed: RuntimeError: boom", "did two"]
        assert broken.began == []


async def test_a_tool_that_is_gone_by_then_is_said_to_be_gone() -> None:
    tool = HandTool()
    async with open_house(tool) as house:
        (item,) = await begin(house, does("one", FILE, asks=True))
        del house.services.toolbox.tools["edit"]
        await house.answer(item.id, Decision.ALLOW)
        await house.rest()
        assert house.results() == ["error: The tool `edit` is not there any more."]
        assert tool.began == []


async def test_what_changed_after_it_was_allowed_is_not_run() -> None:
    tool = HandTool()
    async with open_house(tool) as house:
        (item,) = await begin(house, does("one", FILE, asks=True))
        tool.shown = "something else"
        await house.answer(item.id, Decision.ALLOW)
        await house.rest()
        said = "error: It changed after it was allowed, so it was not run. Read again and repeat it."
        assert (house.results(), tool.began) == ([said], [])
        assert house.calls()[0].call.state is CallState.NOT_RUN


async def test_an_answer_to_a_call_of_a_stopped_run_starts_nothing() -> None:
    tool = HandTool()
    async with open_house(tool) as house:
        await begin(house, does("one", FILE, asks=True))
        (request,) = house.actor.state.pending.values()
        await house.stop()
        await house.rest()
        house.actor.state.pending[request.id] = request
        refused = await house.answer(request.item_id, Decision.ALLOW)
        assert isinstance(refused, Refusal)
        assert tool.began == []


async def test_what_was_learned_last_stays_so_for_a_successor_though_the_clock_was_set_back() -> None:
    tool = editor()
    async with open_house(tool) as house:
        await begin(house, does("one", FILE), does("two", OTHER))
        await tool.begun("two")
        tool.finish("two")
        await house.until(lambda: OTHER in house.actor.state.seen)
        house.clock.set_back()
        tool.finish("one")
        await house.rest()
        entities = house.ledger.store.conversations[ID].current.values()
        times = [item.updated_at for item in house.calls()]
        assert times == sorted(times, reverse=True)
        assert ConversationState.of(entities, house.actor.state.seq).seen == house.actor.state.seen


@pytest.mark.parametrize("change", ["mode", "rule"])
async def test_what_a_person_allows_after_it_was_forbidden_does_not_run(change: str) -> None:
    tool = editor()
    async with open_house(tool) as house:
        (call,) = await begin(house, does("one", FILE, asks=True))
        if change == "mode":
            await house.command(to_plan)
        else:
            house.services.rules = lambda conversation: (Rule(Ruling.DENY, "edit", Scope.USER, "config"),)
        await house.answer(call.id, Decision.ALLOW)
        await house.rest()
        assert tool.began == []
        assert house.results()[0].startswith("error: It was allowed, and then came under another rule.")
        assert run_status(house) is RunStatus.COMPLETED


def to_plan(state: ConversationState, at: str) -> Decided:
    draft = Draft(state, at)
    draft.put(ConversationFact.UPDATED, replace(state.conversation, mode=Mode.PLAN, updated_at=at))
    return draft.done()
