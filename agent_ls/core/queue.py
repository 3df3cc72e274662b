"""The queue of a conversation: visible, editable, reorderable.

Owns what a person may do to runs that have not started, promoting one to a steer of the run that goes on included.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import assert_never

from agent_ls.core.dispatch import enter
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import ConversationFact
from agent_ls.core.items import Block
from agent_ls.core.projection import ConversationState
from agent_ls.core.run import Run, RunFact, Steer
from agent_ls.core.start import start, start_next
from agent_ls.core.steer import can_steer


class QueueOp(StrEnum):
    EDIT = "edit"
    REMOVE = "remove"
    MOVE = "move"
    PROMOTE = "promote"
    RELEASE = "release"
    HOLD = "hold"


@dataclass(frozen=True, kw_only=True)
class QueueUpdate:
    """`before` names the run in front of which a moved one goes; None is the end."""

    op: QueueOp
    run_id: str | None = None
    content: tuple[Block, ...] = ()
    before: str | None = None


def update(state: ConversationState, change: QueueUpdate, at: str) -> Decision | Refusal:
    draft = Draft(state, at)
    match change.op:
        case QueueOp.HOLD | QueueOp.RELEASE:
            return _hold(draft, held=change.op is QueueOp.HOLD)
        case QueueOp.EDIT | QueueOp.REMOVE | QueueOp.MOVE | QueueOp.PROMOTE:
            run = state.queued.get(change.run_id or "")
            return _gone(state, change.run_id) if run is None else _change(draft, run, change)
        case _:
            assert_never(change.op)


def _change(draft: Draft, run: Run, change: QueueUpdate) -> Decision | Refusal:
    if change.op is QueueOp.PROMOTE:
        return _promote(draft, run)
    if change.op is QueueOp.REMOVE:
        draft.move_run(run.id, RunFact.CANCELLED, ended_at=draft.at)
    elif change.op is QueueOp.EDIT:
        if all(block.blank for block in change.content):
            return Refusal(
                Code.INVALID_PARAMS, "The edited message is empty.", "Remove it instead, or write something."
            )
        draft.move_run(run.id, RunFact.EDITED, content=change.content)
    else:
        return _move(draft, run, change.before)
    return draft.done(runId=run.id)


def _promote(draft: Draft, run: Run) -> Decision:
    """Joins the run that goes on; where none does, it goes first, as if sent now."""
    active = draft.state.active
    if active is None or not can_steer(active):
        waits = active is None and draft.conversation.compacting is not None
        draft.move_run(run.id, RunFact.EDITED, position=draft.queue()[0].position or 0, at_once=run.at_once or waits)
        if active is None and not waits:
            start(draft, run.id)
        return draft.done(runId=run.id)
    draft.move_run(run.id, RunFact.CANCELLED, ended_at=draft.at)
    enter(draft, active.id, Steer(content=run.content, context=run.context, at=draft.at))
    return draft.done(runId=active.id)


def _move(draft: Draft, run: Run, before: str | None) -> Decision | Refusal:
    if before == run.id:
        return draft.done(runId=run.id)
    order = [waiting for waiting in draft.state.queue() if waiting.id != run.id]
    places = [waiting.id for waiting in order]
    if before is not None and before not in places:
        return _gone(draft.state, before)
    order.insert(len(order) if before is None else places.index(before), run)
    for position, waiting in enumerate(order, start=1):
        if waiting.position != position:
            draft.move_run(waiting.id, RunFact.EDITED, position=position)
    return draft.done(runId=run.id)


def _hold(draft: Draft, *, held: bool) -> Decision:
    if draft.conversation.queue_held is not held:
        fact = ConversationFact.QUEUE_HELD if held else ConversationFact.QUEUE_RELEASED
        draft.put(fact, replace(draft.conversation, queue_held=held, updated_at=draft.at))
    if not held and draft.state.active is None:
        start_next(draft)
    return draft.done(queueHeld=held)


def _gone(state: ConversationState, run_id: str | None) -> Refusal:
    run = state.runs.get(run_id or "")
    if run is None:
        return Refusal(Code.NOT_FOUND, f"There is no queued message `{run_id}`.", "Attach again to see the queue.")
    return Refusal(Code.NOT_FOUND, f"Message {run.ordinal} is not queued any more: it is {run.status}.")
