"""Stopping a run: noted in one commit, over once its open work has ended truthfully."""

from agent_ls.core.attempt import AttemptFact
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.finalize import captured
from agent_ls.core.interrupt import interrupt
from agent_ls.core.items import CallState, Interruption, ItemKind, ItemStatus, ResultStatus, ToolResult
from agent_ls.core.messages import TextPart
from agent_ls.core.owed import End, owed
from agent_ls.core.projection import ConversationStatus
from agent_ls.core.request import RequestStatus
from agent_ls.core.run import RunStatus
from agent_ls.core.step import end, move_item
from tests.unit.core.world import ALLOW, ASK, World, call, stop


def test_a_stop_settles_what_waits_and_leaves_what_runs_to_the_runtime() -> None:
    world = World()
    run = world.say()
    waiting, allowed, running = world.reply((ASK, call()), (ALLOW, call()), (ALLOW, call()))
    world.commit(move_item(world.state, running.id, "started", at="t"))  # type: ignore[arg-type]
    done = world.commit(interrupt(world.state, run, stop()))
    assert done.result == {"runId": run, "status": "stopping"}
    items = world.state.items
    assert [items[item.id].call.state for item in (waiting, allowed, running)] == [
        CallState.NOT_RUN,
        CallState.NOT_RUN,
        CallState.STARTED,
    ]
    told = ToolResult(status=ResultStatus.NOT_RUN, output="Not run: the person stopped the run.")
    assert items[waiting.id].call.result == told
    request = world.request(waiting)
    assert (request.status, request.decided_by, request.decided_from) == (RequestStatus.CANCELLED, "ada", "nvim")
    note = next(item for item in items.values() if item.kind is ItemKind.INTERRUPT)
    assert note.payload == Interruption(by="ada", from_="nvim")
    assert world.state.status() is ConversationStatus.STOPPING
    assert owed(world.state) == End(run, AttemptFact.INTERRUPTED)


def test_what_still_ran_is_closed_with_a_result_that_claims_nothing() -> None:
    world = World()
    run = world.say()
    (running,) = world.reply((ALLOW, call()))
    world.commit(move_item(world.state, running.id, "started", at="t"))  # type: ignore[arg-type]
    world.commit(interrupt(world.state, run, stop()))
    world.commit(end(world.state, run, AttemptFact.INTERRUPTED, said=[(0, TextPart("so far"))], at="t"))
    closed = world.state.items[running.id]
    assert closed.call.result is not None
    assert (closed.call.result.status, closed.status) == (ResultStatus.UNKNOWN, ItemStatus.FAILED)
    world.commit(captured(world.state, run, "t"))
    assert world.state.runs[run].status is RunStatus.INTERRUPTED


def test_stopping_twice_notes_it_once() -> None:
    world = World()
    run = world.say()
    world.commit(interrupt(world.state, run, stop()))
    again = world.commit(interrupt(world.state, run, stop()))
    assert (again.facts, again.result) == ((), {"runId": run, "status": "stopping"})


def test_a_run_that_has_ended_stays_as_it_is() -> None:
    world = World()
    run = world.say()
    world.reply(text="done")
    done = world.commit(interrupt(world.state, run, stop()))
    assert (done.facts, done.result) == ((), {"runId": run, "status": "completed"})


def test_a_queued_message_is_cancelled_at_once() -> None:
    world = World()
    world.say()
    queued = world.say()
    done = world.commit(interrupt(world.state, queued, stop()))
    assert done.result == {"runId": queued, "status": "cancelled"}
    assert world.state.queue() == []
    assert not world.state.conversation.queue_held


def test_stopping_holds_the_queue_so_that_nothing_starts_by_itself() -> None:
    world = World()
    run, waiting = world.say(), world.say()
    world.commit(interrupt(world.state, run, stop()))
    world.commit(end(world.state, run, AttemptFact.INTERRUPTED, at="t"))
    assert world.state.conversation.queue_held
    assert (world.state.active, [queued.id for queued in world.state.queue()]) == (None, [waiting])


def test_asked_not_to_hold_the_next_message_goes_on() -> None:
    world = World()
    run, waiting = world.say(), world.say()
    world.commit(interrupt(world.state, run, stop(hold_queue=False)))
    world.commit(end(world.state, run, AttemptFact.INTERRUPTED, at="t"))
    assert world.state.active is not None
    assert world.state.active.id == waiting


def test_with_nothing_queued_nothing_is_held() -> None:
    world = World()
    run = world.say()
    world.commit(interrupt(world.state, run, stop()))
    assert not world.state.conversation.queue_held


def test_a_run_that_never_was_is_said_to_be_unknown() -> None:
    refused = interrupt(World().state, "c1.r9", stop())
    assert isinstance(refused, Refusal)
    assert refused.code is Code.NOT_FOUND
