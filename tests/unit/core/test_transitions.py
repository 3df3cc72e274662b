"""The tables of run, attempt, call and request: what stands in them happens, everything else is a bug."""

from collections.abc import Mapping
from enum import StrEnum
from itertools import product
from typing import Any

import pytest

from agent_ls.core import attempt, call, request, run
from agent_ls.core.attempt import Attempt, AttemptFact, AttemptStatus, Reason
from agent_ls.core.base import IllegalTransition
from agent_ls.core.call import CallFact
from agent_ls.core.items import Call, CallState, Item, ItemKind, ItemStatus, ResultStatus, ToolResult
from agent_ls.core.request import Request, RequestFact, RequestKind, RequestStatus
from agent_ls.core.run import Run, RunFact, RunStatus

RUN = Run(id="r", conversation_id="c", ordinal=1, status=RunStatus.QUEUED, created_at="t")
ATTEMPT = Attempt(
    id="a",
    run_id="r",
    conversation_id="c",
    n=1,
    reason=Reason.INITIAL,
    status=AttemptStatus.PENDING,
    read_through=0,
    epoch=1,
    created_at="t",
)
REQUEST = Request(
    id="q",
    number=1,
    conversation_id="c",
    run_id="r",
    item_id="i",
    kind=RequestKind.APPROVAL,
    title="",
    options=(),
    digest="d",
    status=RequestStatus.PENDING,
    created_at="t",
)


def item(state: CallState, result: ToolResult | None = None) -> Item:
    return Item(
        id="i",
        conversation_id="c",
        run_id="r",
        ord=1,
        kind=ItemKind.TOOL_CALL,
        status=ItemStatus.PENDING,
        payload=Call(call_id="k", tool="t", input={}, state=state, result=result),
        created_at="t",
    )


def with_status(entity: Any, status: StrEnum) -> Any:
    return type(entity)(**{**vars(entity), "status": status})


def missing(table: Mapping[Any, Any], states: type[StrEnum], facts: type[StrEnum]) -> list[Any]:
    return [pair for pair in product(states, facts) if pair not in table]


@pytest.mark.parametrize(("pair", "after"), run.TRANSITIONS.items())
def test_a_run_moves_as_the_table_says(pair: Any, after: RunStatus) -> None:
    if pair[0] is not None:
        moved = run.evolve(with_status(RUN, pair[0]), pair[1], ended_at="t2")
        assert moved == with_status(Run(**{**vars(RUN), "ended_at": "t2"}), after)


@pytest.mark.parametrize(("status", "fact"), missing(run.TRANSITIONS, RunStatus, RunFact))
def test_nothing_else_can_happen_to_a_run(status: RunStatus, fact: RunFact) -> None:
    with pytest.raises(IllegalTransition, match=f"run {fact} after {status}"):
        run.evolve(with_status(RUN, status), fact)


@pytest.mark.parametrize(("pair", "after"), attempt.TRANSITIONS.items())
def test_an_attempt_moves_as_the_table_says(pair: Any, after: AttemptStatus) -> None:
    if pair[0] is not None:
        moved = attempt.evolve(with_status(ATTEMPT, pair[0]), pair[1], steps=3)
        assert moved == with_status(Attempt(**{**vars(ATTEMPT), "steps": 3}), after)


@pytest.mark.parametrize(("status", "fact"), missing(attempt.TRANSITIONS, AttemptStatus, AttemptFact))
def test_nothing_else_can_happen_to_an_attempt(status: AttemptStatus, fact: AttemptFact) -> None:
    with pytest.raises(IllegalTransition, match=f"attempt {fact} after {status}"):
        attempt.evolve(with_status(ATTEMPT, status), fact)


@pytest.mark.parametrize(("pair", "after"), call.TRANSITIONS.items())
def test_a_call_moves_as_the_table_says(pair: Any, after: CallState) -> None:
    moved = call.evolve(item(pair[0]), pair[1], "t2", rule="a rule")
    assert (moved.call.state, moved.call.rule, moved.updated_at) == (after, "a rule", "t2")


@pytest.mark.parametrize(("state", "fact"), missing(call.TRANSITIONS, CallState, CallFact))
def test_nothing_else_can_happen_to_a_call(state: CallState, fact: CallFact) -> None:
    with pytest.raises(IllegalTransition, match=f"call {fact} after {state}"):
        call.evolve(item(state), fact, "t2")


@pytest.mark.parametrize(("pair", "after"), request.TRANSITIONS.items())
def test_a_request_moves_as_the_table_says(pair: Any, after: RequestStatus) -> None:
    if pair[0] is not None:
        moved = request.evolve(with_status(REQUEST, pair[0]), pair[1], decided_by="ada")
        assert moved == with_status(Request(**{**vars(REQUEST), "decided_by": "ada"}), after)


@pytest.mark.parametrize(("status", "fact"), missing(request.TRANSITIONS, RequestStatus, RequestFact))
def test_nothing_else_can_happen_to_a_request(status: RequestStatus, fact: RequestFact) -> None:
    with pytest.raises(IllegalTransition, match=f"request {fact} after {status}"):
        request.evolve(with_status(REQUEST, status), fact)


@pytest.mark.parametrize(
    ("state", "result", "shown"),
    [
        (CallState.PROPOSED, None, ItemStatus.PENDING),
        (CallState.AWAITING_APPROVAL, None, ItemStatus.PENDING),
        (CallState.APPROVED, None, ItemStatus.PENDING),
        (CallState.STARTED, None, ItemStatus.RUNNING),
        (CallState.DENIED, ResultStatus.DENIED, ItemStatus.CANCELLED),
        (CallState.NOT_RUN, ResultStatus.NOT_RUN, ItemStatus.CANCELLED),
        (CallState.NOT_RUN, ResultStatus.ERROR, ItemStatus.FAILED),
        (CallState.FINISHED, ResultStatus.OK, ItemStatus.COMPLETED),
        (CallState.FINISHED, ResultStatus.ERROR, ItemStatus.FAILED),
        (CallState.FINISHED, ResultStatus.TIMEOUT, ItemStatus.FAILED),
        (CallState.FINISHED, ResultStatus.UNKNOWN, ItemStatus.FAILED),
        (CallState.FINISHED, ResultStatus.INTERRUPTED, ItemStatus.INTERRUPTED),
    ],
)
def test_what_is_shown_of_a_call_follows_from_its_state(
    state: CallState, result: ResultStatus | None, shown: ItemStatus
) -> None:
    given = None if result is None else ToolResult(status=result)
    assert call.status_of(item(state, given).call) is shown


def test_every_way_in_which_a_call_can_end_has_a_status() -> None:
    ended = [item(CallState.FINISHED, ToolResult(status=status)).call for status in ResultStatus]
    assert ItemStatus.PENDING not in {call.status_of(found) for found in ended}
