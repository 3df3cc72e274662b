"""What a successor says of calls that its predecessor began."""

import pytest

from agent_ls.core.call import is_given_up
from agent_ls.core.draft import Draft
from agent_ls.core.finalize import close_open
from agent_ls.core.interrupt import interrupt, interrupt_call
from agent_ls.core.items import CallState, Item, Notice, ResultStatus, ToolResult
from agent_ls.core.owed import AskModel, Nothing, RunCalls, owed
from agent_ls.core.recovery import drop_partial, lost_calls, settle_lost, start_again
from agent_ls.core.request import Decision, RequestKind
from agent_ls.core.respond import respond
from agent_ls.core.step import move_item
from tests.unit.core.world import ALLOW, World, answer, call, stop

UNKNOWN = ToolResult(status=ResultStatus.UNKNOWN, output="so far")


def begun() -> tuple[World, Item]:
    world = World()
    world.say()
    (item, _) = world.reply((ALLOW, call("shell", title="make test")), (ALLOW, call()))
    world.commit(move_item(world.state, item.id, "started", at="t"))  # type: ignore[arg-type]
    return world, world.state.items[item.id]


def test_only_calls_that_had_begun_are_lost() -> None:
    world, item = begun()
    assert lost_calls(world.state) == [item]
    assert lost_calls(World().state) == []


def test_what_was_found_out_is_the_result_and_nobody_is_asked() -> None:
    world, item = begun()
    done = ToolResult(status=ResultStatus.OK, output="all passed")
    world.commit(settle_lost(world.state, item.id, done, number=1, at="t"))
    assert world.state.items[item.id].call.result == done
    assert world.state.pending == {}


def test_what_certainly_did_not_happen_is_owed_again() -> None:
    world, item = begun()
    world.commit(start_again(world.state, item.id, "t"))
    runnable = owed(world.state)
    assert isinstance(runnable, RunCalls)
    assert item.id in runnable.item_ids


def test_where_nobody_knows_the_person_is_asked_and_the_model_waits() -> None:
    world, item = begun()
    world.commit(settle_lost(world.state, item.id, UNKNOWN, number=7, at="t"))
    (request,) = world.state.pending.values()
    assert (request.number, request.kind, request.item_id) == (7, RequestKind.QUESTION, item.id)
    assert [option.id for option in request.options] == ["tell", "rerun"]
    assert "make test" in request.title
    assert world.state.items[item.id].call.result == UNKNOWN
    other = next(found for found in world.state.items if found.endswith(".p2"))
    assert owed(world.state) == RunCalls(item.run_id, (other,))
    done = ToolResult(status=ResultStatus.OK)
    for fact, more in (("started", {}), ("finished", {"result": done})):
        world.commit(move_item(world.state, other, fact, at="t", **more))  # type: ignore[arg-type]
    assert owed(world.state) == Nothing()
    world.commit(respond(world.state, request.id, answer(Decision.ANSWER, option_id="tell", digest=request.digest)))
    assert isinstance(owed(world.state), AskModel)


def test_a_call_lost_twice_is_asked_about_twice_under_two_ids() -> None:
    world, item = begun()
    world.commit(settle_lost(world.state, item.id, UNKNOWN, number=1, at="t"))
    (first,) = world.state.pending.values()
    world.commit(respond(world.state, first.id, answer(Decision.ANSWER, option_id="rerun")))
    world.commit(move_item(world.state, item.id, "started", at="t"))  # type: ignore[arg-type]
    world.commit(settle_lost(world.state, item.id, UNKNOWN, number=2, at="t"))
    (second,) = world.state.pending.values()
    assert (first.id, second.id) == (f"{item.id}.q1", f"{item.id}.q2")


@pytest.mark.parametrize("how", ["the call is stopped", "the run is stopped", "the run ends"])
def test_what_was_to_run_again_and_did_not_is_still_unknown(how: str) -> None:
    world, item = begun()
    world.commit(settle_lost(world.state, item.id, UNKNOWN, number=1, at="t"))
    (request,) = world.state.pending.values()
    world.commit(respond(world.state, request.id, answer(Decision.ANSWER, option_id="rerun")))
    match how:
        case "the call is stopped":
            world.commit(interrupt_call(world.state, item.run_id, item.id, stop=stop()))
        case "the run is stopped":
            world.commit(interrupt(world.state, item.run_id, stop()))
        case _:
            draft = Draft(world.state, "t")
            close_open(draft, item.run_id, "the run ended")
            world.commit(draft.done())
    call = world.state.items[item.id].call
    assert call.result is not None
    assert (call.state, call.result.status, is_given_up(call)) == (CallState.FINISHED, ResultStatus.UNKNOWN, True)
    assert call.result.output.startswith(
        "Nobody knows whether it had run before the daemon ended. It was not run again."
    )


def test_when_a_stop_was_noted_nobody_is_asked() -> None:
    world, item = begun()
    world.commit(interrupt(world.state, item.run_id, stop()))
    world.commit(settle_lost(world.state, item.id, UNKNOWN, number=1, at="t"))
    assert world.state.pending == {}
    assert world.state.items[item.id].call.state is CallState.FINISHED


def dropped(world: World, text: str) -> str:
    world.commit(drop_partial(world.state, text, "t"))
    note = list(world.state.items.values())[-1].payload
    assert isinstance(note, Notice)
    assert note.code == "partial_dropped"
    return note.message


def test_text_that_was_on_the_screen_is_said_to_be_dropped() -> None:
    world = World()
    world.say()
    said = dropped(world, "half")
    assert said.endswith("half")
    assert "asked again" in said
    assert len(dropped(world, "x" * 9000)) < 2300


def test_after_a_stop_nobody_claims_that_the_model_is_asked_again() -> None:
    world = World()
    world.commit(interrupt(world.state, world.say(), stop()))
    said = dropped(world, "half")
    assert said.endswith("half")
    assert "again" not in said


def test_blank_text_or_no_run_leaves_nothing_to_say() -> None:
    world = World()
    assert drop_partial(world.state, "half", "t") is None
    world.say()
    assert drop_partial(world.state, " \n", "t") is None
