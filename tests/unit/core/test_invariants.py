"""The invariants notice what they are there for: each kind of damage is named."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agent_ls.core.attempt import AttemptStatus
from agent_ls.core.events import Event
from agent_ls.core.invariants import check_history, violations
from agent_ls.core.items import CallState, Item, ItemStatus, ResultStatus, ToolResult
from agent_ls.core.request import Decision, RequestStatus
from agent_ls.core.run import RunStatus
from agent_ls.core.step import move_item
from tests.unit.core.world import ALLOW, ASK, World, call

RUN, ATTEMPT = "c1.r1", "c1.r1.a1"
OK = ToolResult(status=ResultStatus.OK)


def found(world: World, *, live: bool = False) -> list[str]:
    return violations(world.state, live=live, unsettled=world.unsettled)


def waiting() -> tuple[World, Item, Item]:
    world = World()
    world.say()
    asked, allowed = world.reply((ASK, call()), (ALLOW, call()))
    return world, asked, allowed


def ended() -> World:
    world = World()
    world.say()
    world.reply(text="done")
    return world


def test_a_sound_conversation_has_nothing_to_say() -> None:
    world, _, allowed = waiting()
    world.say("queued")
    assert found(world) == []
    world.commit(move_item(world.state, allowed.id, "started", at="t"))  # type: ignore[arg-type]
    assert (found(world), check_history(world.events)) == ([], [])
    assert (found(ended()), check_history(ended().events)) == ([], [])


def test_a_run_that_nobody_works_on_is_found_unless_a_driver_lives() -> None:
    world, *_ = waiting()
    world.unsettled.clear()
    assert found(world) == [f"1: nobody works on {RUN} and no effect is owed for it"]
    assert found(world, live=True) == []


def test_an_effect_that_outlives_its_run_is_found() -> None:
    world = ended()
    world.unsettled.add(ATTEMPT)
    assert found(world) == [f"1: the effect of {ATTEMPT} outlives it"]


def test_a_queue_that_nobody_holds_and_nothing_moves_is_found() -> None:
    world = ended()
    world.state.apply(replace(world.state.runs[RUN], id="c1.r2", status=RunStatus.QUEUED, user_item_id=None))
    assert "5: queued messages wait although no run is active and nobody holds the queue" in found(world)
    assert "5: the message of c1.r2 is gone" in found(world)


def of_item(world: World, which: int) -> Item:
    return [item for item in world.state.items.values() if ".p" in item.id][which]


DAMAGE: list[tuple[str, Callable[[World], Any]]] = [
    (f"2: {RUN} is completed, its attempt running", lambda w: replace(w.state.runs[RUN], status=RunStatus.COMPLETED)),
    (f"2: {ATTEMPT}x of {RUN} lives beside", lambda w: replace(w.state.attempts[ATTEMPT], id=f"{ATTEMPT}x")),
    ("3: c1.r1.a1.s1.4.p2 is approved with a result", lambda w: _call(of_item(w, 1), result=OK)),
    ("3: c1.r1.a1.s1.4.p2 is finished without a result", lambda w: _call(of_item(w, 1), state=CallState.FINISHED)),
    ("3: c1.r1.a1.s1.4.p2 was never judged", lambda w: _call(of_item(w, 1), state=CallState.PROPOSED)),
    ("3: c1.r1.a1.s1.4.p2 shows running", lambda w: replace(of_item(w, 1), status=ItemStatus.RUNNING)),
    ("3: c1.r1.a1.s1.4.p1 waits for a request", lambda w: _call(of_item(w, 0), request_id="another")),
    ("3: call id ", lambda w: _call(of_item(w, 1), call_id=of_item(w, 0).call.call_id)),
    ("6: c1.r1.a1.s1.4.p1.q1 is pending with decision", lambda w: replace(_asked(w), decision=Decision.DENY)),
    ("6: c1.r1.a1.s1.4.p1.q1 is resolved with decision", lambda w: replace(_asked(w), status=RequestStatus.RESOLVED)),
    ("6: request number 1 is given 2 times", lambda w: replace(_asked(w), id="q2")),
    ("5: the message of c1.r1 never reached", lambda w: replace(w.state.runs[RUN], user_item_id="another")),
    ("8: c1.r1.a1.s1.4.p1 is pending under", lambda w: replace(w.state.runs[RUN], status=RunStatus.INTERRUPTED)),
    ("6: c1.r1.a1.s1.4.p1.q1 is pending under", lambda w: replace(w.state.runs[RUN], status=RunStatus.INTERRUPTED)),
]


def _call(item: Item, **fields: Any) -> Item:
    return replace(item, payload=replace(item.call, **fields))


def _asked(world: World) -> Any:
    return world.state.requests["c1.r1.a1.s1.4.p1.q1"]


@pytest.mark.parametrize(("said", "damage"), DAMAGE)
def test_each_kind_of_damage_is_named(said: str, damage: Callable[[World], Any]) -> None:
    world, *_ = waiting()
    world.state.apply(damage(world))
    assert [sentence for sentence in found(world) if sentence.startswith(said)]


def test_an_answer_that_is_missing_or_given_twice_is_found() -> None:
    world = ended()
    attempt = world.state.attempts[ATTEMPT]
    world.state.apply(replace(attempt, answers=()))
    assert found(world) == [f"5: {RUN} completed without an answer to its message"]
    world.state.apply(replace(attempt, answers=(f"{RUN}.u1", f"{RUN}.u1")))
    assert found(world) == [f"5: {RUN}.u1 was answered 2 times"]


def changed(events: list[Event], place: int, **fields: Any) -> list[Event]:
    return [*events[:place], replace(events[place], **fields), *events[place + 1 :]]


def test_a_gap_a_stranger_and_a_fact_out_of_turn_are_found_in_a_history() -> None:
    events = ended().events
    assert check_history(changed(events, 3, seq=9)) == ["4: event 4 has seq 9"]
    assert check_history(changed(events, 3, conversation_id="c2")) == ["4: event 4 belongs to c2"]
    assert check_history([*events, replace(events[0], seq=len(events) + 1)]) == [
        f"4: conversation created cannot follow in c1 at {len(events) + 1}"
    ]


def test_a_run_that_completes_without_the_barrier_is_found() -> None:
    events = [event for event in ended().events if event.fact != "finalizing"]
    events = [replace(event, seq=place) for place, event in enumerate(events, start=1)]
    assert f"7: {RUN} completed without the finalizing barrier" in check_history(events)
    assert f"4: run completed cannot follow in {RUN} at {len(events)}" in check_history(events)


def test_a_status_that_is_not_what_the_fact_says_is_found() -> None:
    events = ended().events
    place = next(n for n, event in enumerate(events) if event.entity.id == ATTEMPT and event.fact == "running")
    broken = replace(events[place].entity, status=AttemptStatus.PENDING)  # type: ignore[arg-type]
    assert f"4: {ATTEMPT} is pending after running" in check_history(changed(events, place, entity=broken))


def test_a_read_may_have_all_its_states_in_one_commit_an_edit_may_not() -> None:
    for effect, expected in (("read", []), ("edit", ["4: item finished cannot follow in c1.r1.a1.s1.4.p1 at 9"])):
        world = World()
        world.say()
        (item,) = world.reply((ALLOW, call(effect=effect)))
        done = _call(replace(item, status=ItemStatus.COMPLETED), state=CallState.FINISHED, result=OK)
        place = next(n for n, event in enumerate(world.events) if event.entity.id == item.id)
        assert check_history(changed(world.events, place, fact="finished", entity=done)) == expected
