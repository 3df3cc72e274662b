"""The barrier: whatever is open under a run is closed truthfully before the run may say that it has ended."""

import pytest

from agent_ls.core.attempt import AttemptFact, AttemptStatus
from agent_ls.core.base import IllegalTransition
from agent_ls.core.draft import Draft
from agent_ls.core.finalize import captured, finish
from agent_ls.core.items import CallState, ResultStatus
from agent_ls.core.owed import Capture, owed
from agent_ls.core.queue import QueueOp, QueueUpdate, update
from agent_ls.core.request import RequestStatus
from agent_ls.core.run import RunStatus
from agent_ls.core.step import move_item
from tests.unit.core.world import ALLOW, ASK, World, call


def end(world: World, run: str, outcome: AttemptFact) -> list[str]:
    draft = Draft(world.state, "t9")
    finish(draft, run, outcome)
    return [f"{fact.kind} {fact.name}" for fact in world.commit(draft.done()).facts]


def test_requests_and_calls_are_closed_first_then_the_attempt_then_the_run() -> None:
    world = World()
    run = world.say()
    asked, allowed, running = world.reply((ASK, call()), (ALLOW, call()), (ALLOW, call()))
    world.commit(move_item(world.state, running.id, "started", at="t"))  # type: ignore[arg-type]
    assert end(world, run, AttemptFact.FAILED) == [
        *("request cancelled", "item not_run", "item not_run", "item finished"),
        *("attempt failed", "run finalizing"),
    ]
    # A call that may have changed files has run: they are kept before the run says that it is over.
    assert owed(world.state) == Capture(run)
    assert world.unsettled == {run}
    ended = world.commit(captured(world.state, run, "t9"))
    assert [f"{fact.kind} {fact.name}" for fact in ended.facts] == ["run failed"]
    assert world.unsettled == set()
    assert captured(world.state, run, "t9") is None
    results = [world.state.items[item.id].call.result for item in (asked, allowed, running)]
    assert [result.status for result in results if result] == [
        ResultStatus.NOT_RUN,
        ResultStatus.NOT_RUN,
        ResultStatus.UNKNOWN,
    ]
    assert world.request(asked).status is RequestStatus.CANCELLED
    assert world.state.items[running.id].call.state is CallState.FINISHED


@pytest.mark.parametrize(
    ("outcome", "status", "answered"),
    [
        (AttemptFact.COMPLETED, RunStatus.COMPLETED, ("c1.r1.u1",)),
        (AttemptFact.INTERRUPTED, RunStatus.INTERRUPTED, ()),
        (AttemptFact.FAILED, RunStatus.FAILED, ()),
    ],
)
def test_a_run_ends_as_its_attempt_did_and_only_a_completed_one_answers(
    outcome: AttemptFact, status: RunStatus, answered: tuple[str, ...]
) -> None:
    world = World()
    run = world.say()
    end(world, run, outcome)
    attempt = world.state.attempts[f"{run}.a1"]
    assert (world.state.runs[run].status, attempt.status) == (status, AttemptStatus(str(status)))
    assert attempt.answers == answered
    assert world.unsettled == set()


def test_a_run_cannot_end_twice() -> None:
    world = World()
    run = world.say()
    end(world, run, AttemptFact.COMPLETED)
    with pytest.raises(IllegalTransition):
        end(world, run, AttemptFact.FAILED)


def test_a_held_queue_stays_held_when_a_run_ends() -> None:
    world = World()
    run = world.say()
    world.say()
    world.commit(update(world.state, QueueUpdate(op=QueueOp.HOLD), "t"))
    end(world, run, AttemptFact.COMPLETED)
    assert world.state.active is None
    assert len(world.state.queued) == 1
