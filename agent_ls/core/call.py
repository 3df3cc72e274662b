"""A tool call: from proposed to exactly one truthful result.

Owns the order of its states and how the item's status follows. Does not own who may allow it (policy.py) nor how it
runs (runtime.batch).
"""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any, Final

from agent_ls.core.base import IllegalTransition
from agent_ls.core.items import Call, CallState, Item, ItemStatus, ResultStatus, ToolResult

WALLED: Final = "walled"
"""In the data of a result: `{why, said}`, its sandbox is why it failed."""
NO_REASON: Final = "The person said no and gave no reason. Ask before you try it in another way."
"""What the model is told of a plain no. A person who said it knows."""


class CallFact(StrEnum):
    ASKED = "asked"
    REVISED = "revised"
    APPROVED = "approved"
    DENIED = "denied"
    NOT_RUN = "not_run"
    STARTED = "started"
    STOP_NOTED = "stop_noted"
    WALLED = "walled"
    FINISHED = "finished"
    RERUN = "rerun"
    REVIEWED = "reviewed"


TRANSITIONS: Final[Mapping[tuple[CallState, CallFact], CallState]] = {
    (CallState.PROPOSED, CallFact.ASKED): CallState.AWAITING_APPROVAL,
    (CallState.PROPOSED, CallFact.APPROVED): CallState.APPROVED,
    (CallState.PROPOSED, CallFact.DENIED): CallState.DENIED,
    (CallState.PROPOSED, CallFact.NOT_RUN): CallState.NOT_RUN,
    (CallState.AWAITING_APPROVAL, CallFact.REVISED): CallState.AWAITING_APPROVAL,
    (CallState.AWAITING_APPROVAL, CallFact.APPROVED): CallState.APPROVED,
    (CallState.AWAITING_APPROVAL, CallFact.DENIED): CallState.DENIED,
    (CallState.AWAITING_APPROVAL, CallFact.NOT_RUN): CallState.NOT_RUN,
    (CallState.APPROVED, CallFact.STARTED): CallState.STARTED,
    (CallState.APPROVED, CallFact.NOT_RUN): CallState.NOT_RUN,
    (CallState.STARTED, CallFact.STOP_NOTED): CallState.STARTED,
    (CallState.STARTED, CallFact.FINISHED): CallState.FINISHED,
    # Its sandbox made it fail: the result is held back until the person has said whether it may run outside.
    (CallState.STARTED, CallFact.WALLED): CallState.AWAITING_APPROVAL,
    (CallState.AWAITING_APPROVAL, CallFact.FINISHED): CallState.FINISHED,
    # Only by recovery, which has found out that the call has had no effect yet.
    (CallState.STARTED, CallFact.RERUN): CallState.APPROVED,
    # Only for an outcome that recovery could not know, and only when the person says "run it again".
    (CallState.FINISHED, CallFact.RERUN): CallState.APPROVED,
    # Only of one that was to be run again and was not: what nobody knew before is still not known, and what came of
    # it in the sandbox is still what came of it.
    (CallState.APPROVED, CallFact.FINISHED): CallState.FINISHED,
    # What the person thinks of a change that was made.
    (CallState.FINISHED, CallFact.REVIEWED): CallState.FINISHED,
}

SETTLED: Final = frozenset({CallState.DENIED, CallState.FINISHED, CallState.NOT_RUN})

_STATUS: Final[Mapping[ResultStatus, ItemStatus]] = {
    ResultStatus.OK: ItemStatus.COMPLETED,
    ResultStatus.ERROR: ItemStatus.FAILED,
    ResultStatus.TIMEOUT: ItemStatus.FAILED,
    ResultStatus.UNKNOWN: ItemStatus.FAILED,
    ResultStatus.INTERRUPTED: ItemStatus.INTERRUPTED,
    ResultStatus.DENIED: ItemStatus.CANCELLED,
    ResultStatus.NOT_RUN: ItemStatus.CANCELLED,
}


def evolve(item: Item, fact: CallFact, at: str, **facts: Any) -> Item:
    """The call's item after the fact; `facts` are fields of its payload."""
    call = item.call
    if call.walled is not None and call.state is CallState.STARTED and isinstance(facts.get("result"), ToolResult):
        facts["result"] = _both(call.walled, facts["result"])
    try:
        state = TRANSITIONS[call.state, fact]
    except KeyError:
        raise IllegalTransition(f"call {fact} after {call.state}") from None
    moved = replace(call, state=state, **facts)
    return replace(item, payload=moved, status=status_of(moved), updated_at=at)


def settle(item: Item, fact: CallFact, at: str, *, result: ToolResult, **facts: Any) -> Item:
    """Ends the call with its one result."""
    return evolve(item, fact, at, result=result, **facts)


def not_begun(call: Call, result: ToolResult) -> tuple[CallFact, ToolResult]:
    """How a call ends that does not begin any more; `result` says why."""
    if not call.again:
        if call.walled is not None:
            return CallFact.FINISHED, kept_in(call.walled, result.output)
        return CallFact.NOT_RUN, result
    output = f"Nobody knows whether it had run before the daemon ended. It was not run again. {result.output}"
    return CallFact.FINISHED, ToolResult(status=ResultStatus.UNKNOWN, output=output)


def is_given_up(call: Call) -> bool:
    """Whether it was to begin, and ended before it did."""
    lost = call.result is not None and call.result.status is ResultStatus.UNKNOWN
    unbegun = (call.again is True and lost) or (call.walled is not None and cause(call.result) is not None)
    return call.state is CallState.NOT_RUN or (call.state is CallState.FINISHED and unbegun)


def cause(result: ToolResult | None) -> dict[str, str] | None:
    """`{why, said}` of a failure that a sandbox has caused."""
    found = None if result is None or result.data is None else result.data.get(WALLED)
    return found if isinstance(found, dict) else None


def kept_in(held: ToolResult, why: str) -> ToolResult:
    """What came of a call in the sandbox stays its result; `why` it does not run outside."""
    return replace(held, output=f"{held.output.rstrip()}\n[It was not run outside the sandbox. {why}]".lstrip())


def status_of(call: Call) -> ItemStatus:
    if call.state is CallState.STARTED:
        return ItemStatus.RUNNING
    if call.state in SETTLED and call.result is not None:
        return _STATUS[call.result.status]
    return ItemStatus.PENDING


def _both(held: ToolResult, result: ToolResult) -> ToolResult:
    """What came of it outside, after what came of it in the sandbox."""
    said = cause(held) or {"why": "", "said": ""}
    code = "" if held.exit_code is None else f" (exit code {held.exit_code})"
    lines = [
        f"[It ran in the sandbox first and failed there{code}: {said['why']}. It said:]",
        said["said"],
        "[Then the person let it run outside the sandbox, from the beginning. What follows came of that.]",
        result.output,
    ]
    return replace(result, output="\n".join(line for line in lines if line))
