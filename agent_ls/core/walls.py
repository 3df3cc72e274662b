"""A command that its sandbox made fail: its result is held back, and the person is asked whether it may run outside.

Owns the request that follows from such a result. Does not own how the failure is recognised
(adapters.tools.shell_sandbox), how the call ends (call.py), nor that no rule can answer it (policy.py). Nothing here
runs anything: allowed, the call is owed like any other.
"""

from typing import Any, Final

from agent_ls.core import delegation, ids
from agent_ls.core.call import CallFact, cause
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.items import Call, CallState, Item, ToolResult
from agent_ls.core.offers import DENY, ONCE
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Amended, Request, RequestFact, RequestKind, RequestStatus
from agent_ls.core.request import Decision as Answered

REFUSED_BEFORE: Final = "The person was asked in this run whether it may run outside the sandbox, and said no."


def asks_nobody(state: ConversationState, item: Item) -> bool:
    """Whether nobody is to be asked about it any more: it was stopped, or its attempt has been given up."""
    run = state.runs[item.run_id]
    return run.interrupt is not None or item.call.stop is not None or item.attempt_id != run.active_attempt_id


def refused_before(state: ConversationState, outside: Call, run_id: str) -> bool:
    """The same call in the same run: a person who said no is not asked again."""
    return any(
        request.run_id == run_id
        and request.digest == outside.digest
        and request.decision is Answered.DENY
        and state.items[request.item_id].call.walled is not None
        for request in state.requests.values()
    )


def hold(
    state: ConversationState, item_id: str, result: ToolResult, *, outside: Amended, number: int, at: str
) -> Decision | None:
    """`outside` is the same call as it would run there. None where it has ended, or nobody is to be asked."""
    item, said = state.items[item_id], cause(result)
    if item.call.state is not CallState.STARTED or said is None or asks_nobody(state, item):
        return None
    draft = Draft(state, at)
    taken = sum(1 for request in state.requests.values() if request.item_id == item_id)
    asked = ids.request_id(item_id, taken + 1)
    seen = {name: getattr(outside.call, name) for name in ("title", "cwd", "keys", "digest")}
    draft.move_call(item_id, CallFact.WALLED, walled=result, request_id=asked, **seen)
    request = Request(
        id=asked,
        number=number,
        conversation_id=item.conversation_id,
        run_id=item.run_id,
        item_id=item_id,
        kind=RequestKind.APPROVAL,
        title=outside.title,
        tool=item.call.tool,
        input=item.call.input,
        options=(ONCE, DENY),
        card={**outside.card, "failed": _failed(result, said), "output": said["said"]},
        origin=delegation.origin(draft.conversation),
        digest=outside.call.digest or "",
        status=RequestStatus.PENDING,
        created_at=at,
    )
    draft.put(RequestFact.ASKED, request)
    return draft.done()


def _failed(result: ToolResult, said: dict[str, Any]) -> str:
    code = "" if result.exit_code is None else f" (exit code {result.exit_code})"
    return (
        f"It ran in the sandbox and failed there{code}: {said['why']}. Outside it would run from the beginning; what "
        "it has changed in the workspace stays."
    )
