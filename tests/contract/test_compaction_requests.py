"""Wherever a history is cut, the request for its summary and the one after it are such that every server takes them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_ls.core import carried, compaction, context, summary
from agent_ls.core.attempt import AttemptFact
from agent_ls.core.compaction import Cut
from agent_ls.core.items import Compaction, ItemKind, ResultStatus, ToolResult
from agent_ls.core.messages import (
    CallPart,
    ModelMessage,
    Part,
    ReasoningPart,
    Reply,
    ResultsTurn,
    Stop,
    TextPart,
    UserTurn,
)
from agent_ls.core.step import end, move_item, take_reply
from agent_ls.ports.provider import ModelRequest
from agent_ls.runtime.requests import History
from tests.contract.model_line import WIRES
from tests.contract.model_words import WORDS
from tests.contract.test_model_requests import FAULTS, READ
from tests.unit.core.world import ALLOW, ASK, DENY, INVALID, World, call, illegal

VERDICT = st.sampled_from([ALLOW, ALLOW, DENY, INVALID])
STEP = st.tuples(st.booleans(), st.lists(VERDICT, min_size=1, max_size=6), st.integers(0, 4000))
RUN = st.tuples(st.lists(STEP, max_size=3), st.sampled_from(["answered", "stopped", "cut off"]))


def played(name: str, runs: Any, *, open_call: bool) -> World:
    world = World()
    for steps, outcome in runs:
        run_id = world.say(f"do {len(world.events)}")
        for thinks, verdicts, size in steps:
            step(world, name, verdicts, thinks=thinks, size=size)
        if outcome == "answered":
            world.reply(text="Done.")
        else:
            said = [(0, TextPart("I was about to"))] if outcome == "cut off" else []
            by = world.state.attempt_of(world.state.runs[run_id])
            world.commit(end(world.state, run_id, AttemptFact.INTERRUPTED, said=said, by=by, at="t"))
    world.say("the last word")
    step(world, name, [ALLOW, ASK] if open_call else [ALLOW], thinks=True, size=10)
    return world


def step(world: World, name: str, verdicts: Any, *, thinks: bool, size: int) -> None:
    run = world.state.active
    assert run is not None
    attempt = world.state.attempts[run.active_attempt_id or ""]
    thought: list[Part] = [ReasoningPart("hm", WORDS[WIRES[name]].thought("hm"))] if thinks else []
    calls = [CallPart(f"native-{place}", "read", "{}") for place in range(len(verdicts))]
    parts = (*thought, *calls)
    triage = [
        world.judged(len(thought) + place, verdict, call("read", effect="read", raw_arguments=f"{len(world.events)}"))
        for place, verdict in enumerate(verdicts)
    ]
    reply = Reply(parts, Stop.TOOL_CALLS)
    world.commit(take_reply(world.state, attempt, reply, triage=triage, at="t"))
    for item in list(world.state.items.values()):
        if item.step_id == attempt.step_id and item.kind is ItemKind.TOOL_CALL and item.call.state == "approved":
            world.commit(move_item(world.state, item.id, "started", at="t"))  # type: ignore[arg-type]
            result = ToolResult(status=ResultStatus.OK, output="x" * size)
            world.commit(move_item(world.state, item.id, "finished", at="t", result=result))  # type: ignore[arg-type]


def body(name: str, messages: tuple[ModelMessage, ...]) -> Any:
    request = ModelRequest(model="m", system="s", messages=messages, tools=(READ,), step_id="s", cache_key="k")
    return WIRES[name](name="p", base_url="http://localhost/v1")._body(request)  # type: ignore[attr-defined]


def both(world: World, cut: Cut) -> tuple[tuple[ModelMessage, ...], tuple[ModelMessage, ...]]:
    """The request for the summary, and the one that comes after the compaction."""
    state = world.state
    going = carried.going(state, cut.kept_from, lambda items: context.messages(items, provider="p", model="m"))
    asked = summary.fitting(summary.request(going, None), None)
    made = Compaction(
        summary="It was long.",
        summarized=0,
        kept_from=cut.kept_from,
        carried=carried.text(state, cut.kept_from),
        messages=carried.messages(state, cut.kept_from),
    )
    world.commit(compaction.commit(state, made, attempt=None, wish_id=None, at="t"))
    assert asked is not None
    return asked, context.asked(History().messages(state, "p", "m"))


def cuts(world: World) -> list[Cut]:
    found = compaction.atoms(world.state)
    legal = [Cut(at, "sliding", found[at].ord) for at in range(len(found)) if compaction.legal(found, at)]
    whole = compaction.cut(found, [1] * len(found), target=0, mode="all", end=world.state.next_ord)
    return [*legal, *([] if whole is None else [whole])]


FULL: Any = [
    ([(True, [ALLOW] * 6, 4000), (False, [DENY, ALLOW], 30)], "answered"),
    ([(True, [INVALID, ALLOW], 5)], "stopped"),
    ([], "cut off"),
    ([(False, [ALLOW], 0), (True, [ALLOW], 900)], "answered"),
]


@pytest.mark.parametrize("name", sorted(WIRES))
@pytest.mark.parametrize("open_call", [False, True], ids=["settled", "open"])
def test_at_each_place_of_a_long_history_both_requests_are_taken(name: str, *, open_call: bool) -> None:
    places = len(cuts(played(name, FULL, open_call=open_call)))
    assert places >= 8
    for place in range(places):
        check(name, FULL, place, open_call=open_call)


@pytest.mark.parametrize("name", sorted(WIRES))
@settings(max_examples=25)
@given(runs=st.lists(RUN, min_size=1, max_size=3), place=st.integers(0, 20), open_call=st.booleans())
def test_wherever_any_history_is_cut_both_requests_are_taken(
    name: str, runs: Any, place: int, *, open_call: bool
) -> None:
    check(name, runs, place, open_call=open_call)


@settings(max_examples=25)
@given(runs=st.lists(RUN, min_size=2, max_size=3), at=st.integers(0, 10))
def test_a_second_compaction_stands_for_the_first_one_as_well(runs: Any, at: int) -> None:
    world = played("chat", runs, open_call=False)
    world.reply(text="Done.")
    first = cuts(world)
    both(world, first[at % len(first)])
    world.say("more")
    world.reply(text="Done again.")
    asked, after = both(world, cuts(world)[-1])
    assert (illegal(asked), illegal(after)) == ([], [])
    (opening,) = [turn for turn in after if isinstance(turn, UserTurn) and "taken out" in (turn.content[0].text or "")]
    assert opening is after[0]


def check(name: str, runs: Any, place: int, *, open_call: bool) -> None:
    world = played(name, runs, open_call=open_call)
    offered = cuts(world)
    waiting = [item for item in world.state.items.values() if item.kind is ItemKind.TOOL_CALL][-1].call.call_id
    asked, after = both(world, offered[place % len(offered)])
    for messages in (asked, after):
        assert illegal(messages) == []
        assert FAULTS[name](body(name, messages)) is None
    if open_call:
        kept = [result.call_id for turn in after if isinstance(turn, ResultsTurn) for result in turn.results]
        assert waiting in kept, "an open call is never summarized"
