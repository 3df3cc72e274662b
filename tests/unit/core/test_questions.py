"""Questions of the agent: an answer is the result of the call that asked, and nothing that was not offered is one."""

from dataclasses import replace
from typing import Any

import pytest

from agent_ls.core.attempt import AttemptFact
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.interrupt import interrupt
from agent_ls.core.items import CallState, Item, ItemStatus, Question, ResultStatus, TodoList, ToolResult
from agent_ls.core.messages import CallPart, Reply, Stop
from agent_ls.core.owed import AskModel, Nothing, owed
from agent_ls.core.questions import UNWILLING, fit, in_words, options
from agent_ls.core.request import Decision, Option, Request, RequestStatus
from agent_ls.core.respond import respond
from agent_ls.core.step import end, finish_call, take_reply
from tests.unit.core.world import ALLOW, ASK, World, answer, call, stop

ONE = {"id": "db", "header": "Store", "text": "Which one?", "options": [{"id": "pg", "label": "Postgres"},
       {"id": "lite", "label": "SQLite"}], "multi": False, "free": False}  # fmt: skip
MANY = {"id": "tests", "text": "Which tests?", "options": [{"id": "u", "label": "Unit"}, {"id": "e", "label": "End"}],
        "multi": True, "free": False}  # fmt: skip
OPEN = {"id": "why", "text": "Why?", "options": [], "multi": False, "free": True}
EITHER = ONE | {"free": True}


def asked(*questions: dict[str, Any]) -> tuple[World, Item, Item, Request]:
    """The call that asks, the item that shows it, the request."""
    world = World()
    world.say()
    attempt = next(iter(world.state.attempts.values()))
    triage = replace(world.judged(0, ASK, call("ask")), questions=questions)
    reply = Reply((CallPart("n", "ask", "{}"),), Stop.TOOL_CALLS)
    world.commit(take_reply(world.state, attempt, reply, triage=[triage], at="t1"))
    (request,) = world.state.pending.values()
    shown = world.state.items[request.item_id]
    return world, world.state.items[str(shown.parent_id)], shown, request


def test_a_question_is_a_request_an_item_and_a_call_that_waits() -> None:
    world, waiting, shown, request = asked(ONE)
    assert (waiting.call.state, waiting.call.request_id) == (CallState.AWAITING_APPROVAL, request.id)
    assert (shown.payload, shown.status) == (
        Question(questions=(ONE,), call_id=waiting.call.call_id),
        ItemStatus.PENDING,
    )
    assert (request.kind, request.number, request.questions, request.input) == ("question", 1, (ONE,), None)
    assert owed(world.state) == Nothing()


def test_the_answer_is_the_one_result_of_the_call_in_words() -> None:
    world, waiting, shown, request = asked(ONE, MANY)
    said = {"db": "pg", "tests": ["e", "u"]}
    world.commit(respond(world.state, request.id, answer(Decision.ANSWER, answers=said)))
    done = world.state.items[waiting.id]
    words = "Which one?\n-> Postgres\nWhich tests?\n-> End; Unit"
    assert done.call.result == ToolResult(status=ResultStatus.OK, output=words)
    assert (done.call.state, done.call.decided_by, done.status) == (CallState.FINISHED, "ada", ItemStatus.COMPLETED)
    told = world.state.items[shown.id]
    assert isinstance(told.payload, Question)
    assert (told.payload.answers, told.status) == (said, ItemStatus.COMPLETED)
    settled = world.state.requests[request.id]
    assert (settled.status, settled.answers) == (RequestStatus.RESOLVED, said)
    assert isinstance(owed(world.state), AskModel)


@pytest.mark.parametrize(("reason", "told"), [("none of your business", "none of your business"), (None, UNWILLING)])
def test_whoever_does_not_want_to_answer_says_no_and_the_run_goes_on(reason: str | None, told: str) -> None:
    world, waiting, shown, request = asked(ONE)
    world.commit(respond(world.state, request.id, answer(Decision.DENY, reason=reason)))
    result = world.state.items[waiting.id].call.result
    assert result is not None
    assert result.for_model() == f"denied: {told}"
    assert world.state.items[shown.id].status is ItemStatus.CANCELLED
    assert isinstance(owed(world.state), AskModel)


def test_a_single_choice_is_answered_by_its_option_alone() -> None:
    world, waiting, _, request = asked(ONE)
    assert request.options == (
        Option(id="pg", label="Postgres", decision=Decision.ANSWER),
        Option(id="lite", label="SQLite", decision=Decision.ANSWER),
        Option(id="deny", label="Do not answer", decision=Decision.DENY),
    )
    world.commit(respond(world.state, request.id, answer(Decision.ANSWER, option_id="lite")))
    assert world.state.requests[request.id].answers == {"db": "lite"}
    result = world.state.items[waiting.id].call.result
    assert result is not None
    assert result.output == "Which one?\n-> SQLite"


def test_the_same_answer_again_is_no_error_and_another_one_learns_who_was_first() -> None:
    world, _, _, request = asked(MANY)
    said = answer(Decision.ANSWER, answers={"tests": "u"})
    world.commit(respond(world.state, request.id, said))
    assert world.commit(respond(world.state, request.id, said)).facts == ()
    for late in ({"tests": "e"}, {"nonsense": 1}):
        refused = respond(world.state, request.id, answer(Decision.ANSWER, answers=late))
        assert isinstance(refused, Refusal)
        assert refused.code is Code.ALREADY_DECIDED


def test_a_wrong_answer_is_refused_with_a_sentence_and_the_question_stays() -> None:
    world, _, _, request = asked(ONE)
    refused = respond(world.state, request.id, answer(Decision.ANSWER, answers={"db": "oracle"}))
    assert refused == Refusal(
        Code.INVALID_PARAMS,
        "Request #1 was not answered: `db` has no option `oracle`; choose `pg`, `lite`.",
        "`agent-ls show 1` shows what is asked and what can be chosen.",
    )
    assert world.state.requests[request.id].pending


@pytest.mark.parametrize(
    ("questions", "given", "found"),
    [
        ([ONE], {"db": "pg"}, {"db": "pg"}),
        ([ONE], {"db": ["pg"]}, {"db": "pg"}),
        ([ONE], {"db": ["pg", "lite"]}, "`db` takes one answer, not 2"),
        ([ONE], {"db": "mine"}, "`db` has no option `mine`; choose `pg`, `lite`"),
        ([EITHER], {"db": "mine"}, {"db": "mine"}),
        ([MANY], {"tests": "u"}, {"tests": ["u"]}),
        ([MANY], {"tests": ["u", "e", "u"]}, {"tests": ["u", "e"]}),
        ([MANY], {"tests": []}, "the answer to `tests` is empty or not a text"),
        ([OPEN], {"why": "because"}, {"why": "because"}),
        ([OPEN], {"why": " "}, "the answer to `why` is empty or not a text"),
        ([OPEN], {"why": 3}, "the answer to `why` is empty or not a text"),
        ([ONE, OPEN], {"db": "pg"}, "an answer to `why` is missing"),
        ([ONE], {"db": "pg", "x": "y"}, "there is no question `x`; the questions are `db`"),
        ([ONE], "pg", "answers have to be an object with the keys `db`"),
        ([ONE], None, "answers have to be an object with the keys `db`"),
    ],
)
def test_only_what_was_offered_is_an_answer(questions: list[Any], given: Any, found: Any) -> None:
    assert fit(questions, given, None) == found


def test_several_questions_offer_nothing_but_to_leave_them() -> None:
    assert [option.id for option in options([ONE, OPEN])] == ["deny"]
    assert [option.id for option in options([MANY])] == ["deny"]
    clash = ONE | {"options": [{"id": "deny", "label": "Deny"}]}
    assert [(option.id, option.decision) for option in options([clash])] == [
        ("deny", Decision.ANSWER),
        ("no_answer", Decision.DENY),
    ]


def test_words_of_their_own_are_told_as_they_are() -> None:
    assert in_words([EITHER], {"db": "neither\nof them"}) == "Which one?\n-> neither\nof them"


@pytest.mark.parametrize("how", ["cancel", "stop"])
def test_a_stop_leaves_no_question_open(how: str) -> None:
    world, waiting, shown, request = asked(ONE)
    if how == "cancel":
        world.commit(respond(world.state, request.id, answer(Decision.CANCEL)))
    else:
        world.commit(interrupt(world.state, waiting.run_id, stop()))
    assert world.state.items[waiting.id].call.state is CallState.NOT_RUN
    assert world.state.items[shown.id].status is ItemStatus.CANCELLED
    assert world.state.requests[request.id].status is RequestStatus.CANCELLED


# The list of steps.


def steps(*statuses: str) -> ToolResult:
    listed = [{"text": f"step {place}", "status": status} for place, status in enumerate(statuses)]
    return ToolResult(status=ResultStatus.OK, output="noted", data={"steps": listed})


def lists(world: World) -> list[tuple[str, list[str], int]]:
    return [
        (str(item.status), [step["status"] for step in item.payload.steps], item.ord)
        for item in world.state.items.values()
        if isinstance(item.payload, TodoList)
    ]


def test_the_list_of_steps_is_one_item_that_keeps_its_place() -> None:
    world = World()
    world.say()
    for listed, expected in [(("active", "pending"), "running"), (("done", "done"), "completed")]:
        (item,) = world.reply((ALLOW, call("todo")))
        world.commit(finish_call(world.state, item.id, steps(*listed), at="t2"))
        assert lists(world) == [(expected, list(listed), 3)]


@pytest.mark.parametrize("outcome", [AttemptFact.COMPLETED, AttemptFact.INTERRUPTED, AttemptFact.FAILED])
def test_a_list_of_a_run_that_ends_goes_on_no_more_and_shows_what_was_left(outcome: AttemptFact) -> None:
    world = World()
    run_id = world.say()
    (item,) = world.reply((ALLOW, call("todo")))
    world.commit(finish_call(world.state, item.id, steps("done", "active"), at="t2"))
    world.commit(end(world.state, run_id, outcome, at="t3"))
    assert [(status, left) for status, left, _ in lists(world)] == [(str(outcome), ["done", "active"])]


def test_a_failed_call_leaves_the_list_as_it_was() -> None:
    world = World()
    world.say()
    (item,) = world.reply((ALLOW, call("todo")))
    world.commit(finish_call(world.state, item.id, ToolResult(status=ResultStatus.ERROR), at="t2"))
    assert lists(world) == []
