"""What a successor does with calls that were running when its predecessor ended.

Owns the facts for each row of the recovery table that concerns calls. Everything else follows from `owed`: inputs,
steps, approvals and noted interrupts are simply still owed.
"""

from typing import Final

from agent_ls.core import delegation, ids
from agent_ls.core.call import CallFact
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.items import Call, CallState, Item, ItemKind, Notice, ResultStatus, ToolResult
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Decision as Answered
from agent_ls.core.request import Option, Request, RequestFact, RequestKind, RequestStatus
from agent_ls.core.respond import RERUN, TELL

_OPTIONS: Final = (
    Option(id=TELL, label="Tell the model as it is", decision=Answered.ANSWER),
    Option(id=RERUN, label="Run it again", decision=Answered.ANSWER),
)


def lost_calls(state: ConversationState) -> list[Item]:
    """Calls that were started and have no result."""
    run = state.active
    if run is None:
        return []
    items = state.items_of(run.id)
    return [item for item in items if isinstance(item.payload, Call) and item.payload.state is CallState.STARTED]


def settle_lost(state: ConversationState, item_id: str, result: ToolResult, *, number: int, at: str) -> Decision:
    """Gives a lost call the result that was found out; where it is unknown, a question asks the person."""
    draft = Draft(state, at)
    item = draft.move_call(item_id, CallFact.FINISHED, result=result)
    delegation.keep(draft, item)
    run = state.runs[item.run_id]
    # Whoever stopped it, or sent something else to do, is not asked whether it should be run again.
    given_up = run.interrupt is not None or item.call.stop is not None or item.attempt_id != run.active_attempt_id
    if result.status is ResultStatus.UNKNOWN and not given_up:
        _ask(draft, item, number)
    return draft.done()


def start_again(state: ConversationState, item_id: str, at: str) -> Decision:
    """The call certainly has no effect yet: back to approved, so that it is owed once more."""
    draft = Draft(state, at)
    draft.move_call(item_id, CallFact.RERUN)
    return draft.done()


def drop_partial(state: ConversationState, text: str, at: str) -> Decision | None:
    """Says which text was on the screen when the daemon ended."""
    run = state.active
    if run is None or not text.strip():
        return None
    draft = Draft(state, at)
    shown = text if len(text) <= 2000 else text[:1000] + "\n…\n" + text[-1000:]
    follows = ", so the model is asked again" if run.interrupt is None else ""
    message = f"The daemon ended in the middle of an answer{follows}. Dropped text:\n\n{shown}"
    note = draft.fresh_note_id(run.id, "n")
    draft.add_item(run.id, note, ItemKind.NOTICE, payload=Notice(code="partial_dropped", message=message))
    return draft.done()


def _ask(draft: Draft, item: Item, number: int) -> None:
    taken = sum(1 for request in draft.state.requests.values() if request.item_id == item.id)
    what = item.call.title or item.call.tool
    question = {
        "id": "lost",
        "header": "Outcome unknown",
        "text": f"The daemon ended while this was running, so nobody knows whether it finished: {what}",
        "options": [{"id": option.id, "label": option.label} for option in _OPTIONS],
        "multi": False,
    }
    request = Request(
        id=ids.request_id(item.id, taken + 1),
        number=number,
        conversation_id=item.conversation_id,
        run_id=item.run_id,
        item_id=item.id,
        kind=RequestKind.QUESTION,
        title=f"Outcome unknown: {what}",
        tool=item.call.tool,
        input=item.call.input,
        options=_OPTIONS,
        questions=(question,),
        origin=delegation.origin(draft.conversation),
        digest=item.call.digest or item.call.call_id,
        status=RequestStatus.PENDING,
        created_at=draft.at,
    )
    draft.put(RequestFact.ASKED, request)
