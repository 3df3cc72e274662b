"""Stopping a run: noted at once, over when its open work has ended truthfully.

Owns what is settled in the commit that notes a stop. What still runs (a model's stream, a tool) is ended by the
runtime, which then closes the run through the barrier.
"""

from dataclasses import replace

from agent_ls.core import asked, compacting, ids
from agent_ls.core.call import CallFact
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import ConversationFact
from agent_ls.core.items import Call, CallState, Interruption, Item, ItemKind, Notice, ResultStatus, ToolResult
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Request, RequestFact
from agent_ls.core.run import Interrupt, Run, RunFact, RunStatus, unknown_run


def interrupt(state: ConversationState, run_id: str, stop: Interrupt) -> Decision | Refusal:
    """`{runId, status}`: what a window shows from now on. A run that has ended stays as it is."""
    run = state.runs.get(run_id)
    if run is None:
        return unknown_run(run_id)
    draft = Draft(state, stop.at)
    if run.status is RunStatus.QUEUED:
        moved = draft.move_run(run_id, RunFact.CANCELLED, ended_at=stop.at)
        return draft.done(runId=run_id, status=str(moved.status))
    if state.active is None and compacting.home(state) == run_id and state.conversation.compacting is not None:
        # No run goes on: what is stopped is the compaction that is shown under this one.
        return _stop_compacting(draft, run, stop)
    if run.ended or run.status is RunStatus.FINALIZING:
        return draft.done(runId=run_id, status=str(run.status))
    if run.interrupt is None:
        note(draft, run, stop)
    elif stop.hold_queue and (state.queued or run.steers):
        _hold(draft, stop.at)
    return draft.done(runId=run_id, status="stopping")


def interrupt_call(state: ConversationState, run_id: str, item_id: str, *, stop: Interrupt) -> Decision | Refusal:
    """One call of a run, which goes on without it. `{runId, status}`; what has ended already stays as it is."""
    run, item = state.runs.get(run_id), state.items.get(item_id)
    if run is None:
        return unknown_run(run_id)
    if item is None or item.run_id != run_id or not isinstance(item.payload, Call):
        return Refusal(
            Code.NOT_FOUND, f"There is no call `{item_id}` in this run.", "Leave out `itemId` to stop the whole run."
        )
    draft = Draft(state, stop.at)
    match item.payload.state:
        case CallState.STARTED if item.payload.stop is None:
            draft.move_call(item_id, CallFact.STOP_NOTED, stop=Interruption(by=stop.by, from_=stop.from_))
        case CallState.AWAITING_APPROVAL | CallState.APPROVED:
            _not_run(draft, item, "Not run: the person stopped this call.", stop=stop)
        case _:
            pass
    return draft.done(runId=run_id, status=str(run.status) if run.interrupt is None else "stopping")


def note(draft: Draft, run: Run, stop: Interrupt) -> None:
    """Parked requests first, then calls that have not begun; what runs is left to the runtime."""
    draft.move_run(run.id, RunFact.INTERRUPT_NOTED, interrupt=stop)
    compacting.end(draft)
    settle_parked(draft, run.id, "Not run: the person stopped the run.", by=stop)
    draft.add_item(
        run.id,
        ids.note_id(run.id, "i", 1),
        ItemKind.INTERRUPT,
        payload=Interruption(by=stop.by, from_=stop.from_),
    )
    if stop.hold_queue and (draft.state.queued or run.steers):
        _hold(draft, stop.at)


def settle_parked(draft: Draft, run_id: str, why: str, *, by: Interrupt | None = None) -> None:
    """What waits for an answer, or was allowed and has not begun, is not run; the requests are cancelled."""
    for request in draft.pending_requests(run_id):
        _cancel(draft, request, by)
    for item in draft.run_items(run_id):
        if isinstance(item.payload, Call) and item.payload.state in (CallState.AWAITING_APPROVAL, CallState.APPROVED):
            draft.end_unbegun(item.id, ToolResult(status=ResultStatus.NOT_RUN, output=why))
    asked.drop_all(draft, run_id)


def _stop_compacting(draft: Draft, run: Run, stop: Interrupt) -> Decision:
    if stop.hold_queue and draft.state.queued:
        _hold(draft, stop.at)
    compacting.end(draft)
    notice = Notice(code=compacting.STOPPED, message=f"Compaction was stopped by {stop.by}. Nothing was shortened.")
    compacting.say(draft, notice)
    return draft.done(runId=run.id, status=str(run.status))


def _not_run(draft: Draft, item: Item, why: str, *, stop: Interrupt) -> None:
    for request in draft.pending_requests(item.run_id):
        about = draft.get_item(request.item_id)
        if item.id in (about.id, about.parent_id):
            _cancel(draft, request, stop)
            if about.id != item.id:
                asked.drop(draft, about)
    draft.end_unbegun(item.id, ToolResult(status=ResultStatus.NOT_RUN, output=why))


def _cancel(draft: Draft, request: Request, by: Interrupt | None) -> None:
    who = {} if by is None else {"decided_by": by.by, "decided_from": by.from_}
    draft.move_request(request, RequestFact.CANCELLED, decided_at=draft.at, **who)


def _hold(draft: Draft, at: str) -> None:
    """Nothing starts by itself, not even what was sent to start next."""
    waiting = draft.queue()
    for run in waiting:
        if run.at_once:
            draft.move_run(run.id, RunFact.EDITED, at_once=False)
    if not draft.conversation.queue_held:
        held = replace(draft.conversation, queue_held=True, updated_at=at)
        draft.put(ConversationFact.QUEUE_HELD, held)
