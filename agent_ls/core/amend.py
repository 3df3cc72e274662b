"""A call that is changed while it waits for the person: by them, or because what it would change has changed.

Owns that request and call are revised together and under a new digest, that the model's own input is kept, and what the
model is told. Does not own reading and judging the changed input (runtime.amend).
"""

import json
from dataclasses import replace
from typing import Any, Final

from agent_ls.core.call import CallFact
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.items import Call, CallState, ResultStatus, ToolResult
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Amended, Request, RequestFact

_TOLD: Final = 4_000


def revise(draft: Draft, request: Request, amended: Amended, *, by_person: bool) -> Request:
    """The request as it is now, still pending."""
    call = draft.get_item(request.item_id).call
    revised = {
        "input": amended.call.input,
        "input_blob": amended.call.input_blob,
        "title": amended.call.title,
        "uri": amended.call.uri,
        "diff": amended.call.diff,
        "cwd": amended.call.cwd,
        "keys": amended.call.keys,
        "digest": amended.call.digest,
        "before": amended.call.before,
        "after": amended.call.after,
    }
    if by_person and call.original is None:
        revised |= {"original": call.input, "original_blob": call.input_blob}
    draft.move_call(request.item_id, CallFact.REVISED, **revised)
    moved = replace(request, title=amended.title, input=amended.call.input, card=amended.card)
    return draft.move_request(moved, RequestFact.REVISED, digest=amended.call.digest or "")


def follow(state: ConversationState, request_id: str, found: Amended | str, *, digest: str, at: str) -> Decision | None:
    """What waits, after what it would change has changed. `found` is a reason where it cannot be run any more.

    `digest` is what was looked at; None when the request has been answered or changed meanwhile.
    """
    request = state.pending.get(request_id)
    if request is None or request.digest != digest:
        return None
    if state.items[request.item_id].call.state is not CallState.AWAITING_APPROVAL:
        return None
    draft = Draft(state, at)
    if isinstance(found, Amended):
        revise(draft, request, found, by_person=False)
        return draft.done()
    result = ToolResult(status=ResultStatus.ERROR, output=found)
    draft.move_call(request.item_id, CallFact.NOT_RUN, result=result)
    draft.move_request(request, RequestFact.CANCELLED, decided_at=at)
    return draft.done()


def told(call: Call) -> str:
    """What the model reads before the result of a call that the person has changed; nothing for any other."""
    if call.original is None:
        return ""
    changed = {name: value for name, value in call.input.items() if call.original.get(name) != value}
    gone = sorted(call.original.keys() - call.input.keys())
    said = _json(changed)
    if len(said) > _TOLD:
        said = said[:_TOLD] + " … (cut)"
    without = f", and without {', '.join(gone)}" if gone else ""
    reread = " Read the file before you change more of it." if call.uri is not None else ""
    return f"[The person changed this call before they allowed it. It was run with {said}{without}.{reread}]\n"


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
