"""A person's answer: the first one counts, what it does is one commit, and every later one learns who was first."""

from dataclasses import replace

import pytest

from agent_ls.core.errors import Code, Refusal
from agent_ls.core.items import CallState, Item, ItemStatus, ResultStatus, ToolResult
from agent_ls.core.owed import End, RunCalls, owed
from agent_ls.core.recovery import settle_lost
from agent_ls.core.request import Amended, Decision, Option, Request, RequestStatus
from agent_ls.core.respond import respond
from agent_ls.core.step import move_item
from tests.unit.core.world import ALLOW, ASK, World, answer, call

ONCE = Option(id="allow_once", label="Allow once", decision=Decision.ALLOW, scope="once")
ALWAYS = Option(
    id="allow_conversation", label="Always", decision=Decision.ALLOW, scope="conversation", rule="shell:git status"
)
NO = Option(id="deny", label="Deny", decision=Decision.DENY)


def asked() -> tuple[World, Item, Request]:
    world = World()
    world.say()
    item, *_ = world.reply((ASK, call("shell")))
    request = replace(world.request(item), options=(ONCE, ALWAYS, NO))
    world.state.apply(request)
    return world, item, request


def lost() -> tuple[World, Item, Request]:
    """A command of which nobody knows whether it finished: the person is asked."""
    world = World()
    world.say()
    (item,) = world.reply((ALLOW, call("shell")))
    world.commit(move_item(world.state, item.id, "started", at="t1"))  # type: ignore[arg-type]
    unknown = ToolResult(status=ResultStatus.UNKNOWN, output="half")
    world.commit(settle_lost(world.state, item.id, unknown, number=1, at="t2"))
    (request,) = world.state.pending.values()
    return world, item, request


def test_allowing_approves_the_call_and_settles_the_request_in_one_commit() -> None:
    world, item, request = asked()
    done = world.commit(respond(world.state, request.id, answer(Decision.ALLOW)))
    call_now, settled = world.state.items[item.id].call, world.state.requests[request.id]
    assert done.result == {"status": "resolved"}
    assert [str(fact.name) for fact in done.facts] == ["approved", "resolved"]
    assert (call_now.state, call_now.decided_by, call_now.decided_from) == (CallState.APPROVED, "ada", "nvim")
    assert settled == replace(
        request,
        status=RequestStatus.RESOLVED,
        decision=Decision.ALLOW,
        decided_by="ada",
        decided_from="nvim",
        decided_at="t9",
    )
    assert owed(world.state) == RunCalls(item.run_id, (item.id,))


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("use the other file", "denied: use the other file"),
        ("  ", "denied: The person said no and gave no reason. Ask before you try it in another way."),
        (None, "denied: The person said no and gave no reason. Ask before you try it in another way."),
    ],
)
def test_a_denial_is_the_result_and_its_reason_is_told_to_the_model(reason: str | None, told: str) -> None:
    world, item, request = asked()
    world.commit(respond(world.state, request.id, answer(Decision.DENY, reason=reason)))
    denied = world.state.items[item.id]
    assert (denied.call.state, denied.status) == (CallState.DENIED, ItemStatus.CANCELLED)
    assert denied.call.result is not None
    assert denied.call.result.for_model() == told


def test_an_answer_to_something_else_than_what_is_shown_now_is_not_used() -> None:
    world, _, request = asked()
    refused = respond(world.state, request.id, answer(Decision.ALLOW, digest="old"))
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.data) == (Code.DIGEST_MISMATCH, {"digest": "d1"})


def test_the_same_answer_again_is_no_error_and_changes_nothing() -> None:
    world, _, request = asked()
    world.commit(respond(world.state, request.id, answer(Decision.ALLOW)))
    again = world.commit(respond(world.state, request.id, answer(Decision.ALLOW)))
    assert (again.facts, again.result) == ((), {"status": "resolved"})


@pytest.mark.parametrize(
    "late",
    [
        answer(Decision.DENY),
        answer(Decision.CANCEL),
        answer(Decision.ALLOW, scope="conversation"),
        answer(Decision.ALLOW, option_id="allow_conversation"),
    ],
)
def test_a_second_other_answer_learns_who_was_first(late) -> None:
    world, _, request = asked()
    world.commit(respond(world.state, request.id, answer(Decision.ALLOW)))
    refused = respond(world.state, request.id, late)
    assert refused == Refusal(
        Code.ALREADY_DECIDED,
        "Request #1 was already allowed by ada in nvim.",
        data={"by": "ada", "from": "nvim", "decision": "allow"},
    )


def test_rerun_after_tell_learns_that_the_question_was_answered() -> None:
    world, item, request = lost()
    world.commit(respond(world.state, request.id, answer(Decision.ANSWER, option_id="tell")))
    refused = respond(world.state, request.id, answer(Decision.ANSWER, option_id="rerun"))
    assert isinstance(refused, Refusal)
    assert refused.code is Code.ALREADY_DECIDED
    assert world.state.items[item.id].call.state is CallState.FINISHED


def test_allowing_for_the_conversation_keeps_exactly_the_rule_that_was_shown_once() -> None:
    world, item, request = asked()
    world.commit(respond(world.state, request.id, answer(Decision.ALLOW, scope="conversation")))
    rule = {"verdict": "allow", "pattern": "shell:git status", "by": "ada", "at": "t9"}
    assert world.state.conversation.rules == (rule,)
    again = replace(request, id="q2", item_id=item.id)
    world.state.apply(replace(item, payload=replace(item.call, state=CallState.AWAITING_APPROVAL)))
    world.state.apply(again)
    world.commit(respond(world.state, "q2", answer(Decision.ALLOW, scope="conversation")))
    assert world.state.conversation.rules == (rule,)


def test_an_option_means_its_scope_even_when_only_the_option_is_named() -> None:
    world, _, request = asked()
    world.commit(respond(world.state, request.id, answer(Decision.ALLOW, option_id="allow_conversation")))
    assert [rule["pattern"] for rule in world.state.conversation.rules] == ["shell:git status"]
    assert world.state.requests[request.id].scope == "conversation"


@pytest.mark.parametrize(
    "wrong",
    [
        answer(Decision.ALLOW, scope="workspace"),
        answer(Decision.ALLOW, option_id="deny"),
        answer(Decision.DENY, option_id="allow_once"),
        answer(Decision.ALLOW, option_id="no such option"),
        answer(Decision.ANSWER),
    ],
)
def test_what_was_not_offered_is_refused_and_the_request_stays_open(wrong) -> None:
    world, _, request = asked()
    refused = respond(world.state, request.id, wrong)
    assert isinstance(refused, Refusal)
    assert refused.code is Code.INVALID_PARAMS
    assert world.state.requests[request.id].pending


@pytest.mark.parametrize("decision", [Decision.ALLOW, Decision.DENY])
def test_a_change_that_nobody_has_read_and_judged_decides_nothing(decision: Decision) -> None:
    world, _, request = asked()
    refused = respond(world.state, request.id, answer(decision, input={"command": "rm"}))
    assert isinstance(refused, Refusal)
    assert (refused.code, world.state.requests[request.id].pending) == (Code.INVALID_PARAMS, True)


def test_a_changed_call_is_revised_and_allowed_in_one_commit_and_the_models_own_input_is_kept() -> None:
    world, item, request = asked()
    changed = replace(item.call, input={"command": "ls"}, digest="new", keys=("file:///w",))
    amended = Amended(call=changed, title="Run ls", card={"type": "command"})
    done = world.commit(
        respond(world.state, request.id, answer(Decision.ALLOW, input={"command": "ls"}, amended=amended))
    )
    call_now, settled = world.state.items[item.id].call, world.state.requests[request.id]
    assert [str(fact.name) for fact in done.facts] == ["revised", "revised", "approved", "resolved"]
    assert (call_now.input, call_now.original, call_now.digest, call_now.keys) == (
        {"command": "ls"},
        item.call.input,
        "new",
        ("file:///w",),
    )
    assert (settled.number, settled.digest, settled.card) == (request.number, "new", {"type": "command"})
    late = respond(world.state, request.id, answer(Decision.ALLOW, input={"command": "rm"}, amended=amended))
    assert isinstance(late, Refusal)
    assert late.code is Code.ALREADY_DECIDED


def test_cancelling_stops_the_run_and_cancelling_again_is_no_error() -> None:
    world, item, request = asked()
    done = world.commit(respond(world.state, request.id, answer(Decision.CANCEL)))
    assert done.result == {"status": "cancelled"}
    assert owed(world.state) == End(item.run_id, "interrupted")  # type: ignore[arg-type]
    assert world.state.items[item.id].call.state is CallState.NOT_RUN
    again = world.commit(respond(world.state, request.id, answer(Decision.CANCEL)))
    assert (again.facts, again.result) == ((), {"status": "cancelled"})


def test_allowing_what_was_cancelled_says_by_whom() -> None:
    world, _, request = asked()
    world.commit(respond(world.state, request.id, answer(Decision.CANCEL)))
    refused = respond(world.state, request.id, answer(Decision.ALLOW))
    assert isinstance(refused, Refusal)
    assert refused.message == "Request #1 was already cancelled by ada in nvim."
    assert refused.data == {"by": "ada", "from": "nvim", "decision": "cancel"}


def test_an_unknown_request_is_said_to_be_unknown() -> None:
    world, _, _ = asked()
    refused = respond(world.state, "c1.r9.q1", answer(Decision.ALLOW))
    assert isinstance(refused, Refusal)
    assert refused.code is Code.UNKNOWN_REQUEST


@pytest.mark.parametrize(
    "said",
    [
        answer(Decision.ANSWER, option_id="rerun"),
        answer(Decision.ANSWER, answers={"lost": "rerun"}),
        answer(Decision.ANSWER, answers={"lost": ["rerun"]}),
        answer(Decision.ANSWER, answers=["rerun"]),
    ],
)
def test_a_lost_call_runs_again_only_because_a_person_says_so(said) -> None:
    world, item, request = lost()
    world.commit(respond(world.state, request.id, said))
    again = world.state.items[item.id]
    assert (again.call.state, again.call.result, again.call.decided_by) == (CallState.APPROVED, None, "ada")
    assert again.status is ItemStatus.PENDING
    assert owed(world.state) == RunCalls(item.run_id, (item.id,))


@pytest.mark.parametrize(
    "said",
    [
        answer(Decision.ANSWER, option_id="tell"),
        answer(Decision.ANSWER),
        answer(Decision.DENY),
        answer(Decision.DENY, answers={"lost": "rerun"}),
    ],
)
def test_anything_else_leaves_the_call_unknown_and_lets_the_model_see_it(said) -> None:
    world, item, request = lost()
    world.commit(respond(world.state, request.id, said))
    told = world.state.items[item.id].call
    assert (told.state, told.result) == (CallState.FINISHED, ToolResult(status=ResultStatus.UNKNOWN, output="half"))


def test_the_wrong_kind_of_answer_names_the_right_command() -> None:
    world, _, request = asked()
    refused = respond(world.state, request.id, answer(Decision.ANSWER))
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.hint) == (
        Code.INVALID_PARAMS,
        'Say `agent-ls approve 1`, or `agent-ls deny 1 "why"`.',
    )
    world, _, request = lost()
    refused = respond(world.state, request.id, answer(Decision.ALLOW))
    assert isinstance(refused, Refusal)
    assert refused.message == "#1 is a question, so there is nothing to allow."
    assert "`agent-ls answer 1" in refused.hint
