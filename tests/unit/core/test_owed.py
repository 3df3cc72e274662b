"""What a conversation owes next, from its state alone."""

import pytest

from agent_ls.core.attempt import AttemptFact
from agent_ls.core.interrupt import interrupt
from agent_ls.core.items import Item, ResultStatus, ToolResult
from agent_ls.core.owed import AskModel, End, Nothing, RunCalls, owed
from agent_ls.core.request import Decision
from agent_ls.core.respond import respond
from agent_ls.core.step import TriageVerdict, move_item
from tests.unit.core.world import ALLOW, ASK, DENY, World, answer, call, stop

A, B, C, ROOT = "file:///w/a", "file:///w/b", "file:///w/c", "file:///w"


def after(*calls: tuple[TriageVerdict, tuple[str, ...]]) -> tuple[World, list[Item]]:
    world = World()
    world.say()
    return world, world.reply(*((verdict, call(keys=keys)) for verdict, keys in calls))


def finish(world: World, item: Item) -> None:
    world.commit(move_item(world.state, item.id, "started", at="t"))  # type: ignore[arg-type]
    done = ToolResult(status=ResultStatus.OK)
    world.commit(move_item(world.state, item.id, "finished", at="t", result=done))  # type: ignore[arg-type]


def test_nothing_is_owed_while_nobody_has_said_anything() -> None:
    assert owed(World().state) == Nothing()


def test_the_model_is_asked_after_a_message_and_after_every_call_has_its_result() -> None:
    world, (item,) = after((ALLOW, ()))
    fresh = World()
    run = fresh.say()
    assert owed(fresh.state) == AskModel(run, f"{run}.a1")
    assert owed(world.state) == RunCalls(run, (item.id,))
    finish(world, item)
    assert owed(world.state) == AskModel(run, f"{run}.a1")


def test_calls_that_were_refused_at_once_leave_nothing_to_run() -> None:
    world, _ = after((DENY, ()), (DENY, ()))
    assert isinstance(owed(world.state), AskModel)


def test_allowed_calls_run_while_another_still_waits_for_the_person() -> None:
    world, (first, waiting, third) = after((ALLOW, (A,)), (ASK, (B,)), (ALLOW, ()))
    assert owed(world.state) == RunCalls(first.run_id, (first.id, third.id))
    finish(world, first)
    finish(world, third)
    assert owed(world.state) == Nothing()
    world.commit(respond(world.state, world.request(waiting).id, answer(Decision.DENY)))
    assert isinstance(owed(world.state), AskModel)


@pytest.mark.parametrize("earlier", [(A,), (ROOT,), (B, A)])
def test_a_call_waits_behind_an_undecided_one_that_touches_the_same(earlier: tuple[str, ...]) -> None:
    world, (undecided, behind) = after((ASK, earlier), (ALLOW, (A,)))
    assert owed(world.state) == Nothing()
    world.commit(respond(world.state, world.request(undecided).id, answer(Decision.DENY)))
    assert owed(world.state) == RunCalls(behind.run_id, (behind.id,))


def test_a_call_waits_behind_one_that_itself_waits() -> None:
    """Else what is written to one file would go in another order than the model said."""
    world, (undecided, middle, last) = after((ASK, (A,)), (ALLOW, (A, B)), (ALLOW, (B,)))
    assert owed(world.state) == Nothing()
    world.commit(respond(world.state, world.request(undecided).id, answer(Decision.ALLOW)))
    assert owed(world.state) == RunCalls(last.run_id, (undecided.id, middle.id, last.id))


def test_nobody_waits_for_a_later_call() -> None:
    world, (first, _) = after((ALLOW, (A,)), (ASK, (A,)))
    assert owed(world.state) == RunCalls(first.run_id, (first.id,))


def test_a_noted_stop_ends_the_run_whatever_else_is_owed() -> None:
    world, (item, _) = after((ALLOW, ()), (ASK, ()))
    world.commit(interrupt(world.state, item.run_id, stop()))
    assert owed(world.state) == End(item.run_id, AttemptFact.INTERRUPTED)


def test_a_call_that_runs_leaves_nothing_to_do_until_it_ends() -> None:
    world, (item,) = after((ALLOW, ()))
    world.commit(move_item(world.state, item.id, "started", at="t"))  # type: ignore[arg-type]
    assert owed(world.state) == Nothing()
