"""A command that its sandbox made fail has one result in the end, whatever the person says and whatever befalls it."""

from dataclasses import replace

import pytest

from agent_ls.core import walls
from agent_ls.core.call import WALLED
from agent_ls.core.errors import Refusal
from agent_ls.core.interrupt import interrupt
from agent_ls.core.items import CallState, Item, ItemStatus, ResultStatus, ToolResult
from agent_ls.core.owed import Nothing, RunCalls, owed
from agent_ls.core.recovery import settle_lost
from agent_ls.core.request import Amended, Decision, RequestStatus
from agent_ls.core.respond import respond
from agent_ls.core.step import finish_call, move_item
from tests.unit.core.world import ALLOW, World, answer, call, stop

INSIDE = ToolResult(
    status=ResultStatus.ERROR,
    output="x: Read-only file system\n[exit code 1]",
    exit_code=1,
    data={"cwd": "/w", WALLED: {"why": "it may not write there", "said": "x: Read-only file system"}},
)


def started() -> tuple[World, Item]:
    world = World()
    world.say()
    (item,) = world.reply((ALLOW, call("shell", keys=("file:///w",), effect="shell")))
    world.commit(move_item(world.state, item.id, "started", at="t1"))  # type: ignore[arg-type]
    return world, world.state.items[item.id]


def held() -> tuple[World, Item]:
    world, item = started()
    outside = Amended(call=replace(item.call, digest="d2", title="outside"), title="outside", card={"outside": True})
    world.commit(walls.hold(world.state, item.id, INSIDE, outside=outside, number=7, at="t2"))
    return world, world.state.items[item.id]


def said(world: World, item: Item) -> tuple[CallState, str, str]:
    moved = world.state.items[item.id].call
    assert moved.result is not None
    return moved.state, str(moved.result.status), moved.result.output


def test_its_result_is_held_back_and_the_person_is_asked_for_the_same_call_outside() -> None:
    world, item = held()
    (request,) = world.state.pending.values()
    assert (item.call.state, item.call.result, item.call.walled) == (CallState.AWAITING_APPROVAL, None, INSIDE)
    assert (item.call.request_id, item.call.digest, item.call.title) == (request.id, "d2", "outside")
    assert (request.number, request.digest, request.title) == (7, "d2", "outside")
    assert [option.id for option in request.options] == ["allow_once", "deny"]
    assert (request.card or {})["output"] == "x: Read-only file system"
    assert owed(world.state) == Nothing()


def test_allowed_it_is_owed_again_and_its_one_result_tells_both() -> None:
    world, item = held()
    (request,) = world.state.pending.values()
    assert isinstance(respond(world.state, request.id, answer(Decision.ALLOW, digest="d1")), Refusal)
    world.commit(respond(world.state, request.id, answer(Decision.ALLOW, digest="d2")))
    assert owed(world.state) == RunCalls(item.run_id, (item.id,))
    world.commit(move_item(world.state, item.id, "started", at="t4"))  # type: ignore[arg-type]
    outside = ToolResult(status=ResultStatus.OK, output="done")
    world.commit(finish_call(world.state, item.id, outside, at="t5"))
    assert said(world, item) == (
        CallState.FINISHED,
        "ok",
        "[It ran in the sandbox first and failed there (exit code 1): it may not write there. It said:]\n"
        "x: Read-only file system\n"
        "[Then the person let it run outside the sandbox, from the beginning. What follows came of that.]\n"
        "done",
    )


def test_lost_outside_it_is_unknown_and_asked_about_and_both_are_told() -> None:
    world, item = held()
    (request,) = world.state.pending.values()
    world.commit(respond(world.state, request.id, answer(Decision.ALLOW, digest="d2")))
    world.commit(move_item(world.state, item.id, "started", at="t4"))  # type: ignore[arg-type]
    lost = ToolResult(status=ResultStatus.UNKNOWN, output="nobody knows")
    world.commit(settle_lost(world.state, item.id, lost, number=8, at="t5"))
    state, status, output = said(world, item)
    assert (state, status) == (CallState.FINISHED, "unknown")
    assert output.startswith("[It ran in the sandbox first")
    assert output.endswith("nobody knows")
    assert [pending.number for pending in world.state.pending.values()] == [8]


@pytest.mark.parametrize(
    ("reason", "told"), [("not that", "The person said no: not that"), (" ", "The person said no")]
)
def test_refused_it_stays_what_it_was_inside(reason: str, told: str) -> None:
    world, item = held()
    (request,) = world.state.pending.values()
    world.commit(respond(world.state, request.id, answer(Decision.DENY, digest="d2", reason=reason)))
    state, status, output = said(world, item)
    assert (state, status) == (CallState.FINISHED, "error")
    assert output.startswith(f"{INSIDE.output}\n[It was not run outside the sandbox. {told}")
    assert world.state.items[item.id].status is ItemStatus.FAILED
    assert world.state.cwd == "/w"
    assert walls.refused_before(world.state, item.call, item.run_id)
    assert not walls.refused_before(world.state, item.call, "c1.r2")
    assert not walls.refused_before(world.state, replace(item.call, digest="another"), item.run_id)


def test_stopped_it_stays_what_it_was_inside_and_who_is_stopped_is_not_asked() -> None:
    world, item = held()
    world.commit(interrupt(world.state, item.run_id, stop()))
    assert said(world, item) == (
        CallState.FINISHED,
        "error",
        f"{INSIDE.output}\n[It was not run outside the sandbox. Not run: the person stopped the run.]",
    )
    assert [request.status for request in world.state.requests.values()] == [RequestStatus.CANCELLED]
    other, begun = started()
    other.commit(interrupt(other.state, begun.run_id, stop()))
    outside = Amended(call=begun.call, title="", card={})
    assert walls.asks_nobody(other.state, begun)
    assert walls.hold(other.state, begun.id, INSIDE, outside=outside, number=1, at="t") is None
