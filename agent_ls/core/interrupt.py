"""Stopping a run: noted at once, over when its open work has ended truthfully.

Owns what is settled in the commit that notes a stop. What still runs (a model's stream, a tool) is ended by the
runtime, which then closes the run through the barrier.
"""

from dataclasses import replace

from agent_ls.core import ids, plans, questions
from agent_ls.core.call import CallFact
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import ConversationFact
from agent_ls.core.items import Call, CallState, Interruption, ItemKind, ResultStatus, ToolResult
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import RequestFact
from agent_ls.core.run import Interrupt, Run, RunFact, RunStatus


def interrupt(state: ConversationState, run_id: str, stop: Interrupt) -> Decision | Refusal:
    """`{runId, status}`: what a window shows from now on. A run that has ended stays as it is."""
    run = state.runs.get(run_id)
    if run is None:
        return Refusal(Code.NOT_FOUND, f"There is no run `{run_id}` in this conversation.")
    draft = Draft(state, stop.at)
    if run.status is RunStatus.QUEUED:
        moved = draft.move_run(run_id, RunFact.CANCELLED, ended_at=stop.at)
        return draft.done(runId=run_id, status=str(moved.status))
    if run.ended or run.interrupt is not None:
        status = str(run.status) if run.ended else "stopping"
        return draft.done(runId=run_id, status=status)
    note(draft, run, stop)
    return draft.done(runId=run_id, status="stopping")


def note(draft: Draft, run: Run, stop: Interrupt) -> None:
    """Parked requests first, then calls that have not begun; what runs is left to the runtime."""
    draft.move_run(run.id, RunFact.INTERRUPT_NOTED, interrupt=stop)
    for request in draft.pending_requests(run.id):
        draft.move_request(
            request, RequestFact.CANCELLED, decided_by=stop.by, decided_from=stop.from_, decided_at=stop.at
        )
    for item in draft.run_items(run.id):
        if isinstance(item.payload, Call) and item.payload.state in (CallState.AWAITING_APPROVAL, CallState.APPROVED):
            result = ToolResult(status=ResultStatus.NOT_RUN, output="Not run: the person stopped the run.")
            draft.move_call(item.id, CallFact.NOT_RUN, result=result)
    questions.close(draft, run.id)
    plans.close(draft, run.id)
    draft.add_item(
        run.id,
        ids.note_id(run.id, "i", 1),
        ItemKind.INTERRUPT,
        payload=Interruption(by=stop.by, from_=stop.from_),
    )
    if stop.hold_queue and (draft.state.queued or run.steers) and not draft.conversation.queue_held:
        held = replace(draft.conversation, queue_held=True, updated_at=stop.at)
        draft.put(ConversationFact.QUEUE_HELD, held)
