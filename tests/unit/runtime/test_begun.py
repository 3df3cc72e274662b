"""A command that a rule allows begins in the commit of its reply, if nothing stands before it."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import pytest
from anyio.abc import TaskGroup

from agent_ls.core.draft import Decision as Decided
from agent_ls.core.draft import Draft
from agent_ls.core.errors import Refusal
from agent_ls.core.events import ConversationFact
from agent_ls.core.interrupt import interrupt_call
from agent_ls.core.items import Call, CallState, Item, ToolResult
from agent_ls.core.locks import Holder
from agent_ls.core.projection import ConversationState
from agent_ls.core.rules import Rule, Ruling, Scope
from agent_ls.core.run import Interrupt
from agent_ls.ports.ledger import Commit, Committed
from agent_ls.ports.tools import Prepared, Replay, ToolContext, ToolEffect
from agent_ls.runtime.batch import Batch
from agent_ls.runtime.begun import Begun
from tests.unit.runtime.house import HandTool, House, full_disk, open_house
from tests.unit.runtime.test_fenced import taken_by_another

pytestmark = pytest.mark.anyio

ROOT = "file:///w"
GO = Rule(Ruling.ALLOW, "shell(go)", Scope.USER, "config")

After = Callable[[], None]


class Shell(HandTool):
    """Runs `go`, which a rule allows. `told`: what it was told to do, in order."""

    def __init__(self) -> None:
        super().__init__(name="shell", effect=ToolEffect.SHELL, replay=Replay.ASK, command="go", waits=True)
        self.told: list[str] = []

    def ready(self, prepared: Prepared, context: ToolContext) -> None:
        self.told.append("ready")

    def put_back(self, item_id: str, spool: str) -> None:
        self.told.append("put back")

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        self.told.append("run")
        return await super().run(prepared, context)


@asynccontextmanager
async def house_of(tool: HandTool, *names: str) -> AsyncIterator[tuple[House, list[list[str]], list[After]]]:
    """The model calls these. What happened to calls, commit by commit; and what is done after the reply's."""
    async with open_house(tool) as house:
        house.services.rules = lambda conversation: (GO,)
        house.model.says("", *(("shell", json.dumps({"name": name, "keys": [ROOT], "writes": []})) for name in names))
        house.model.says("done")
        append, commits, after = house.ledger.append, list[list[str]](), list[After]()

        async def noted(commit: Commit) -> Committed | Refusal:
            committed = await append(commit)
            if facts := [str(fact.name) for fact in commit.facts if is_call(fact.entity)]:
                commits.append(facts)
                while after:
                    after.pop()()
            return committed

        house.ledger.append = noted  # type: ignore[method-assign]
        await house.create()
        yield house, commits, after


def is_call(entity: object) -> bool:
    return isinstance(entity, Item) and isinstance(entity.payload, Call)


async def test_the_only_call_of_a_reply_begins_in_the_commit_of_the_reply() -> None:
    tool = Shell()
    async with house_of(tool, "one") as (house, commits, _):
        await house.say()
        await tool.begun("one")
        assert [lock.key for lock in house.services.locks.held()] == [ROOT]
        tool.finish("one")
        await house.rest()
        assert commits == [["approved", "started"], ["finished"]]
        assert (house.results(), house.services.locks.held()) == (["did one"], ())


async def test_it_is_got_ready_while_its_start_is_written_down_and_runs_after_that() -> None:
    tool = Shell()
    async with house_of(tool, "one") as (house, _, after):
        by_then: list[str] = []
        after.append(lambda: by_then.extend(tool.told))
        await house.say()
        await tool.begun("one")
        tool.finish("one")
        await house.rest()
        assert (by_then, tool.told) == (["ready"], ["ready", "run", "put back"])


async def test_it_is_put_back_when_a_stop_was_written_down_first() -> None:
    tool = Shell()
    async with house_of(tool, "one") as (house, commits, _), anyio.create_task_group() as group:
        answers = house.model.script[0].gate = anyio.Event()
        await house.say()
        await house.asked()
        house.ledger.gate, house.ledger.reached = anyio.Event(), anyio.Event()
        group.start_soon(house.stop)
        await house.ledger.reached.wait()
        answers.set()
        while not tool.told:
            await anyio.lowlevel.checkpoint()
        house.ledger.gate.set()
        await house.rest()
        assert (tool.told, commits, house.services.locks.held()) == (["ready", "put back"], [], ())


async def test_several_calls_of_a_reply_begin_one_after_the_other_as_their_locks_allow() -> None:
    tool = Shell()
    async with house_of(tool, "one", "two") as (house, commits, _):
        await house.say()
        for name in ("one", "two"):
            await tool.begun(name)
            tool.finish(name)
        await house.rest()
        assert commits == [["approved", "approved"], ["started"], ["finished"], ["started"], ["finished"]]


async def test_a_call_whose_lock_is_held_elsewhere_waits_for_it_and_is_not_said_to_have_begun() -> None:
    tool = Shell()
    async with house_of(tool, "one") as (house, commits, _):
        async with house.services.locks.hold([f"{ROOT}/a"], Holder("other", "other.r1", "i"), since="t"):
            await house.say()
            await house.until(lambda: len(house.calls()) == 1)
            assert (house.calls()[0].call.state, tool.began) == (CallState.APPROVED, [])
        await tool.begun("one")
        tool.finish("one")
        await house.rest()
        assert commits == [["approved"], ["started"], ["finished"]]


async def test_a_conversation_that_changed_since_the_judgement_began_is_looked_at_again_under_the_lock() -> None:
    tool = Shell()
    tool.prepare_gate = anyio.Event()

    def renamed(state: ConversationState, at: str) -> Decided:
        draft = Draft(state, at)
        draft.put(ConversationFact.UPDATED, replace(state.conversation, title="another", updated_at=at))
        return draft.done()

    async with house_of(tool, "one") as (house, commits, _):
        await house.say()
        await tool.preparing.wait()
        await house.command(renamed)
        tool.prepare_gate.set()
        await tool.begun("one")
        tool.finish("one")
        await house.rest()
        assert commits == [["approved"], ["started"], ["finished"]]


async def test_a_call_that_is_cancelled_between_the_commit_and_its_start_does_not_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_on = Batch.go_on

    def cancelled(batch: Batch, group: TaskGroup, begun: Begun) -> None:
        go_on(batch, group, begun)
        batch.cancel()

    monkeypatch.setattr(Batch, "go_on", cancelled)
    tool = Shell()
    async with house_of(tool, "one") as (house, commits, _):
        await house.say()
        await house.rest()
        assert (tool.told, house.services.locks.held()) == (["ready", "put back"], ())
        assert commits == [["approved", "started"], ["finished"]]
        assert house.results()[0].startswith("interrupted: It was about to begin when ")


async def test_a_commit_that_came_after_the_lease_begins_nothing() -> None:
    """Suspended while the start was recorded, and taken over meanwhile: the record is there, the right is gone."""
    tool = Shell()
    async with house_of(tool, "one") as (house, _, after):

        def slept() -> None:
            house.clock.seconds += 60
            taken_by_another(house)

        after.append(slept)
        await house.say()
        await house.registry.driver(house.actor.id).over()
        assert (tool.told, house.services.locks.held()) == (["ready", "put back"], ())


async def test_one_that_is_stopped_while_it_waits_for_the_ledger_to_confirm_its_start_has_a_result() -> None:
    tool = Shell()
    async with house_of(tool, "one") as (house, commits, after):

        def slept() -> None:
            house.clock.seconds += 60
            house.ledger.moods.append(full_disk())

        after.append(slept)
        await house.say()
        await house.clock.someone_sleeps()
        (call,) = house.calls()
        stop = Interrupt(by="ada", from_="nvim", at="t")
        await house.command(lambda state, at: interrupt_call(state, call.run_id, call.id, stop=replace(stop, at=at)))
        await house.rest()
        assert commits == [["approved", "started"], ["stop_noted"], ["finished"]]
        assert tool.told == ["ready", "put back"]
        assert house.results() == ["interrupted: It was about to begin when the person stopped it, and did not."]
