"""The finalizing barrier: the only way in which a run ends.

Owns the order of what is closed before a run may say `completed`, `interrupted` or `failed`, and that the next queued
run starts in the same commit. Capturing a checkpoint is a port that answers `missing` until checkpoints are built, so
`finalizing` and the end are facts of one commit.
"""

from collections.abc import Mapping
from typing import Final

from agent_ls.core import delegation, plans, questions, todo
from agent_ls.core.attempt import AttemptFact
from agent_ls.core.call import SETTLED, CallFact
from agent_ls.core.draft import Draft
from agent_ls.core.items import Call, CallState, Item, ItemKind, Notice, ResultStatus, ToolResult
from agent_ls.core.request import RequestFact
from agent_ls.core.run import RunFact, RunStatus
from agent_ls.core.start import start_next
from agent_ls.core.steer import too_late

_RUN_ENDS: Final[Mapping[AttemptFact, RunFact]] = {
    AttemptFact.COMPLETED: RunFact.COMPLETED,
    AttemptFact.INTERRUPTED: RunFact.INTERRUPTED,
    AttemptFact.FAILED: RunFact.FAILED,
}


def finish(draft: Draft, run_id: str, outcome: AttemptFact, *, error: Notice | None = None) -> None:
    """Ends the run as its active attempt did. Whatever is still open under it is closed truthfully first."""
    run = draft.get_run(run_id)
    attempt = draft.get_attempt(run.active_attempt_id or "")
    close_open(draft, run_id, "the run has ended")
    too_late(draft, run_id)
    todo.close(draft, run_id, outcome)
    if error is not None:
        draft.add_item(run_id, draft.fresh_note_id(run_id, "e"), ItemKind.ERROR, payload=error, attempt_id=attempt.id)
    answers = (run.user_item_id,) if outcome is AttemptFact.COMPLETED and run.user_item_id else ()
    draft.move_attempt(attempt.id, outcome, answers=answers)
    if draft.get_run(run_id).status is RunStatus.RUNNING:
        draft.move_run(run_id, RunFact.FINALIZING)
    said = None if error is None else {"code": error.code, "message": error.message, "hint": error.hint}
    draft.move_run(run_id, _RUN_ENDS[outcome], ended_at=draft.at, error=said)
    draft.settled.append(attempt.id)
    start_next(draft)


def close_open(draft: Draft, run_id: str, why: str) -> None:
    """Settles pending requests as cancelled and every open call with its one result."""
    for request in draft.pending_requests(run_id):
        draft.move_request(request, RequestFact.CANCELLED, decided_at=draft.at)
    for item in draft.run_items(run_id):
        if isinstance(item.payload, Call) and item.payload.state not in SETTLED:
            _close_call(draft, item, why)
    questions.close(draft, run_id)
    plans.close(draft, run_id)
    delegation.close(draft, run_id)


def _close_call(draft: Draft, item: Item, why: str) -> None:
    if item.call.state is CallState.STARTED:
        result = ToolResult(status=ResultStatus.UNKNOWN, output=f"No result was recorded before {why}.")
        draft.move_call(item.id, CallFact.FINISHED, result=result)
        return
    result = ToolResult(status=ResultStatus.NOT_RUN, output=f"Not run: {why}.")
    draft.move_call(item.id, CallFact.NOT_RUN, result=result)
