"""The finalizing barrier: the only way in which a run ends.

Owns the order of what is closed before a run may say `completed`, `interrupted` or `failed`: attempt, messages, todos,
requests and calls; then `finalizing`; then the files as they are now; then the end, with which the next queued run
starts. Where a run has touched no files there is nothing to capture, and both are facts of one commit.
"""

from typing import Any

from agent_ls.core import asked, delegation, todo, wait
from agent_ls.core.attempt import ENDS_RUN, AttemptFact, AttemptStatus
from agent_ls.core.call import SETTLED, CallFact
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.effects import capture
from agent_ls.core.items import Call, CallState, Item, ItemKind, ItemStatus, Notice, ResultStatus, ToolResult
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import RequestFact
from agent_ls.core.run import RunFact, RunStatus
from agent_ls.core.start import start_next
from agent_ls.core.steer import too_late
from agent_ls.core.tool_effect import ToolEffect


def finish(draft: Draft, run_id: str, outcome: AttemptFact, *, error: Notice | None = None) -> None:
    """Brings the run to its end as its active attempt did. Whatever is still open is closed truthfully first."""
    run = draft.get_run(run_id)
    attempt = draft.attempt_of(run)
    close_open(draft, run_id, "the run has ended")
    wait.close(draft, run_id, ItemStatus.CANCELLED)
    too_late(draft, run_id)
    todo.close(draft, run_id, outcome)
    if error is not None:
        draft.add_item(run_id, draft.fresh_note_id(run_id, "e"), ItemKind.ERROR, payload=error, attempt_id=attempt.id)
    if attempt.status is AttemptStatus.PENDING:
        # It ends before it could begin.
        draft.move_attempt(attempt.id, AttemptFact.RUNNING)
    answers = unanswered_messages(draft, run_id) if outcome is AttemptFact.COMPLETED else ()
    draft.move_attempt(attempt.id, outcome, answers=(*attempt.answers, *answers))
    draft.settled.append(attempt.id)
    said = None if error is None else {"code": error.code, "message": error.message, "hint": error.hint}
    facts = {"error": said, "retry": None}
    if draft.get_run(run_id).status is not RunStatus.RUNNING:
        _end(draft, run_id, **facts)
        return
    draft.move_run(run_id, RunFact.FINALIZING, **facts)
    if _touched(draft, run_id):
        draft.effects.append(capture(run_id, run.conversation_id))
    else:
        _end(draft, run_id)


def captured(state: ConversationState, run_id: str, at: str, *, trouble: str = "") -> Decision | None:
    """The files are kept, or there was nothing to keep, or `trouble` says why they could not be: the run ends."""
    if state.runs[run_id].status is not RunStatus.FINALIZING:
        return None
    draft = Draft(state, at)
    if trouble:
        notice = Notice(code="checkpoint_failed", message=f"The files as they are now could not be kept: {trouble}")
        draft.add_item(run_id, draft.fresh_note_id(run_id, "n"), ItemKind.NOTICE, payload=notice)
    _end(draft, run_id)
    draft.settled.append(run_id)
    return draft.done()


def unanswered_messages(draft: Draft, run_id: str) -> tuple[str, ...]:
    """What the person said to the run and no attempt of it has answered."""
    mine = [draft.get_attempt(known) for known, each in draft.state.attempts.items() if each.run_id == run_id]
    answered = {message for attempt in mine for message in attempt.answers}
    said = [item.id for item in draft.run_items(run_id) if item.kind is ItemKind.USER_MESSAGE]
    return tuple(message for message in said if message not in answered)


def _end(draft: Draft, run_id: str, **facts: Any) -> None:
    """As its attempt did."""
    attempt = draft.attempt_of(draft.get_run(run_id))
    draft.move_run(run_id, RunFact(ENDS_RUN[attempt.status]), ended_at=draft.at, **facts)
    start_next(draft)


def _touched(draft: Draft, run_id: str) -> bool:
    """Whether a call of the run may have changed files."""
    return any(
        isinstance(item.payload, Call)
        and item.payload.effect != ToolEffect.READ
        and item.payload.state is CallState.FINISHED
        for item in draft.run_items(run_id)
    )


def close_open(draft: Draft, run_id: str, why: str) -> None:
    """Settles pending requests as cancelled and every open call with its one result."""
    for request in draft.pending_requests(run_id):
        draft.move_request(request, RequestFact.CANCELLED, decided_at=draft.at)
    for item in draft.run_items(run_id):
        if isinstance(item.payload, Call) and item.payload.state not in SETTLED:
            _close_call(draft, item, why)
    asked.drop_all(draft, run_id)
    delegation.close(draft, run_id)


def _close_call(draft: Draft, item: Item, why: str) -> None:
    if item.call.state is CallState.STARTED:
        result = ToolResult(status=ResultStatus.UNKNOWN, output=f"No result was recorded before {why}.")
        draft.move_call(item.id, CallFact.FINISHED, result=result)
        return
    result = ToolResult(status=ResultStatus.NOT_RUN, output=f"Not run: {why}.")
    draft.end_unbegun(item.id, result)
