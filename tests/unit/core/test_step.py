"""A model's reply becomes items; its calls are judged; the run goes on or ends."""

from dataclasses import replace

import pytest

from agent_ls.core.attempt import Attempt, AttemptFact, AttemptStatus
from agent_ls.core.call import CallFact
from agent_ls.core.draft import Decision
from agent_ls.core.ids import call_id
from agent_ls.core.items import (
    AssistantMessage,
    CallState,
    Item,
    ItemKind,
    ItemStatus,
    Notice,
    Reasoning,
    ResultStatus,
    ToolResult,
    Usage,
)
from agent_ls.core.messages import CallPart, Part, ReasoningPart, Reply, Stop, TextPart
from agent_ls.core.owed import Nothing, owed
from agent_ls.core.request import RequestKind
from agent_ls.core.run import RunStatus
from agent_ls.core.step import end, finish_call, move_item, repeated_failure, take_reply
from tests.unit.core.world import ALLOW, ASK, DENY, INVALID, World, call


def started() -> tuple[World, Attempt]:
    world = World()
    run = world.say()
    return world, world.state.attempts[f"{run}.a1"]


def take(world: World, attempt: Attempt, *parts: Part, stop: Stop = Stop.END_TURN, **fields: object) -> Decision | None:
    reply = Reply(parts, stop, **fields)  # type: ignore[arg-type]
    taken = take_reply(world.state, attempt, reply, triage=[], at="t5")
    return None if taken is None else world.commit(taken)


def notes(world: World) -> list[str]:
    return [item.payload.code for item in world.state.items.values() if isinstance(item.payload, Notice)]


def test_an_answer_without_calls_ends_the_run_and_answers_its_message() -> None:
    world, attempt = started()
    usage = Usage(input_tokens=5, output_tokens=2)
    take(world, attempt, TextPart("hello"), usage=usage, model="m-2026")
    run, after = world.state.runs["c1.r1"], world.state.attempts[attempt.id]
    said = world.state.items["c1.r1.a1.s1.4.p0"]
    assert (run.status, run.ended_at) == (RunStatus.COMPLETED, "t5")
    assert said.payload == AssistantMessage(text="hello", model="m-2026", usage=usage)
    assert after == replace(
        attempt,
        status=AttemptStatus.COMPLETED,
        steps=1,
        last_stop="end_turn",
        usage=usage,
        last_usage=usage,
        answers=("c1.r1.u1",),
    )
    assert world.unsettled == set()


def test_the_same_reply_a_second_time_is_nothing_to_do() -> None:
    world, attempt = started()
    item, *_ = world.reply((ALLOW, call()))
    assert take(world, attempt, TextPart("late")) is None
    assert list(world.state.items) == ["c1.r1.u1", item.id]


def test_a_reply_to_a_run_that_has_ended_is_nothing_to_do() -> None:
    world, attempt = started()
    world.commit(end(world.state, "c1.r1", AttemptFact.INTERRUPTED, at="t"))
    assert take(world, attempt, TextPart("late")) is None


def test_each_verdict_leaves_its_call_in_its_state() -> None:
    world, _ = started()
    allowed, asked, denied, wrong = world.reply((ALLOW, call()), (ASK, call()), (DENY, call()), (INVALID, call()))
    assert [item.call.state for item in (allowed, asked, denied, wrong)] == [
        CallState.APPROVED,
        CallState.AWAITING_APPROVAL,
        CallState.DENIED,
        CallState.NOT_RUN,
    ]
    assert (allowed.call.decided_by, allowed.call.rule, allowed.call.result) == ("rule", "a rule", None)
    assert asked.call.decided_by is None
    assert denied.call.result == ToolResult(status=ResultStatus.DENIED, output="it is deny")
    assert wrong.call.result == ToolResult(status=ResultStatus.ERROR, output="it is invalid")
    assert [item.call.call_id for item in (allowed, asked)] == [call_id(allowed.id), call_id(asked.id)]
    (request,) = world.state.pending.values()
    assert (request.id, request.item_id, request.number) == (f"{asked.id}.q1", asked.id, 1)
    assert (request.kind, request.digest, request.tool) == (RequestKind.APPROVAL, "d1", "edit")


def test_reasoning_is_kept_with_who_made_it() -> None:
    world, attempt = started()
    take(world, attempt, ReasoningPart("hm", {"signature": "x"}), TextPart("ok"), model="another-name")
    thought = world.state.items["c1.r1.a1.s1.4.p0"]
    assert thought.payload == Reasoning(text="hm", provider="p", model="m", raw={"signature": "x"})


@pytest.mark.parametrize(
    ("text", "stop", "said"),
    [
        ("cut", Stop.MAX_TOKENS, ["max_tokens"]),
        ("", Stop.END_TURN, ["empty_answer"]),
        (" \n", Stop.END_TURN, ["empty_answer"]),
        ("no", Stop.REFUSAL, ["refusal"]),
        ("yes", Stop.END_TURN, []),
    ],
)
def test_an_answer_that_is_not_whole_says_why(text: str, stop: Stop, said: list[str]) -> None:
    world, attempt = started()
    take(world, attempt, TextPart(text), stop=stop)
    assert notes(world) == said
    assert world.state.runs["c1.r1"].status is RunStatus.COMPLETED


def test_a_call_that_nobody_judged_is_a_bug() -> None:
    world, attempt = started()
    with pytest.raises(ValueError, match="was not triaged"):
        take(world, attempt, CallPart("n", "edit", "{}"))


def wrong(world: World, *raw: str) -> None:
    world.reply(*((INVALID, call("edit", raw_arguments=text)) for text in raw))


def test_the_same_senseless_call_for_the_third_time_stops_the_run() -> None:
    world, _ = started()
    wrong(world, "{")
    wrong(world, "{")
    assert world.state.active is not None
    wrong(world, "{")
    run = world.state.runs["c1.r1"]
    assert (run.status, notes(world)) == (RunStatus.FAILED, ["provider_error"])
    assert run.error is not None
    assert owed(world.state) == Nothing()


def test_a_call_that_fails_as_it_did_before_stops_the_run_the_third_time_and_other_ones_do_not() -> None:
    world = World()
    run = world.say()
    for given in ("a", "b", "b", "b"):
        assert repeated_failure(world.state.items_of(run)) is None
        (item,) = world.reply((ALLOW, replace(call(), input={"path": given})))
        world.commit(move_item(world.state, item.id, CallFact.STARTED, at="t"))
        world.commit(finish_call(world.state, item.id, ToolResult(status=ResultStatus.ERROR, output="no"), at="t"))
    failure = repeated_failure(world.state.items_of(run))
    assert failure is not None
    assert failure.message == "The model made the same failing call to `edit` 3 times, so the run was stopped."


def test_three_senseless_calls_in_one_reply_get_the_chance_to_learn() -> None:
    world, _ = started()
    wrong(world, "{", "{", "{")
    assert world.state.active is not None
    wrong(world, "{", "{")
    assert world.state.active is not None
    wrong(world, "{")
    assert world.state.active is None


@pytest.mark.parametrize("other", [(INVALID, "["), (ALLOW, None), (DENY, None)])
def test_another_call_in_between_starts_the_count_again(other: tuple) -> None:
    world, _ = started()
    wrong(world, "{")
    wrong(world, "{")
    world.reply((other[0], call("edit", raw_arguments=other[1])))
    wrong(world, "{")
    assert world.state.active is not None


def test_text_on_the_screen_stays_when_the_answer_breaks_off() -> None:
    world, _ = started()
    said = [(0, TextPart("half an ans")), (1, TextPart("  "))]
    error = Notice(code="rate_limited", message="later", hint="wait")
    world.commit(end(world.state, "c1.r1", AttemptFact.FAILED, said=said, error=error, at="t"))
    kept: list[Item] = [item for item in world.state.items.values() if item.kind is not ItemKind.USER_MESSAGE]
    assert [(item.kind, item.status, item.payload) for item in kept] == [
        (ItemKind.ASSISTANT_MESSAGE, ItemStatus.INTERRUPTED, AssistantMessage(text="half an ans")),
        (ItemKind.ERROR, ItemStatus.COMPLETED, error),
    ]
    assert world.state.runs["c1.r1"].error == {"code": "rate_limited", "message": "later", "hint": "wait"}


def test_ending_a_run_twice_is_nothing_to_do() -> None:
    world, _ = started()
    world.commit(end(world.state, "c1.r1", AttemptFact.INTERRUPTED, at="t"))
    assert end(world.state, "c1.r1", AttemptFact.FAILED, at="t") is None


def test_the_next_queued_message_starts_in_the_commit_that_ends_the_run() -> None:
    world, attempt = started()
    world.say("next")
    taken = take(world, attempt, TextPart("done"))
    assert taken is not None
    assert world.state.active is not None
    assert world.state.active.id == "c1.r2"
    assert (taken.settled, [effect.id for effect in taken.effects]) == (("c1.r1.a1",), ["c1.r2.a1"])
