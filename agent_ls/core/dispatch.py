"""What becomes of a message: started at once or queued, decided here and never in the client.

Owns the dispositions. A steer joins the run that goes on (steer.py); one that comes too late is sent as if now.
Restarting an attempt comes with a later issue; asking for it is refused with a sentence.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from agent_ls.core import ids, plans
from agent_ls.core.conversation import title_from
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import ConversationFact
from agent_ls.core.items import Block, ContextItem
from agent_ls.core.projection import ConversationState
from agent_ls.core.run import Run, RunFact, RunStatus, Steer
from agent_ls.core.start import start
from agent_ls.core.steer import can_steer, steer

QUEUE_LIMIT: Final = 300


class Dispatch(StrEnum):
    AUTO = "auto"
    QUEUE = "queue"
    STEER = "steer"
    RESTART = "restart"
    START = "start"


class Disposition(StrEnum):
    STARTED = "started"
    QUEUED = "queued"
    STEERED = "steered"
    RESTARTED = "restarted"


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message of the person, as it was sent."""

    content: tuple[Block, ...]
    context: tuple[ContextItem, ...] = ()
    dispatch: Dispatch = Dispatch.AUTO
    target_run_id: str | None = None
    plan_id: str | None = None


def send(state: ConversationState, message: Message, at: str) -> Decision | Refusal:
    """Takes the message: `{runId, disposition}`, or says why not. Nothing said is ever dropped."""
    refusal = _check(state, message)
    if refusal is not None:
        return refusal
    if message.plan_id is not None:
        plan = plans.settled(state, message.plan_id)
        if isinstance(plan, Refusal):
            return plan
        message = replace(message, context=(*message.context, plan))
    draft = Draft(state, at)
    run = _new_run(state, message, at)
    _title(draft, message)
    if message.dispatch is Dispatch.STEER and _is_meant(state.active, message):
        return _steered(draft, message)
    idle = state.active is None
    may_start = message.dispatch is not Dispatch.QUEUE or not (state.conversation.queue_held or state.queued)
    if idle and may_start:
        draft.put(RunFact.QUEUED, run)
        start(draft, run.id)
        return draft.done(runId=run.id, disposition=str(Disposition.STARTED))
    if len(state.queued) >= QUEUE_LIMIT:
        return Refusal(Code.QUEUE_FULL, f"{QUEUE_LIMIT} messages are already waiting in this conversation.")
    draft.put(RunFact.QUEUED, run)
    return draft.done(runId=run.id, disposition=str(Disposition.QUEUED))


def _check(state: ConversationState, message: Message) -> Refusal | None:
    if all(block.blank for block in message.content):
        return Refusal(Code.INVALID_PARAMS, "The message is empty.", "Write something, or attach a file or an image.")
    running = state.active
    late = message.target_run_id is not None and (running is None or running.id != message.target_run_id)
    if running is None or late:
        return None
    if message.dispatch is Dispatch.RESTART:
        return Refusal(
            Code.UNSUPPORTED,
            f"Dispatch `{message.dispatch}` is not built yet.",
            "Steer the run, or stop it first and send the message then.",
        )
    if message.dispatch is Dispatch.START:
        return Refusal(
            Code.CONVERSATION_BUSY, "A run is going on in this conversation.", "Queue the message, or stop it."
        )
    return None


def _is_meant(run: Run | None, message: Message) -> bool:
    return can_steer(run) and run is not None and message.target_run_id in (None, run.id)


def _steered(draft: Draft, message: Message) -> Decision | Refusal:
    run = draft.state.active
    assert run is not None
    if len(run.steers) >= QUEUE_LIMIT:
        return Refusal(Code.QUEUE_FULL, f"{QUEUE_LIMIT} messages are already waiting to join this run.")
    steer(draft, run.id, Steer(content=message.content, context=message.context, at=draft.at))
    return draft.done(runId=run.id, disposition=str(Disposition.STEERED))


def _new_run(state: ConversationState, message: Message, at: str) -> Run:
    ordinal = len(state.runs) + 1
    return Run(
        id=ids.run_id(state.conversation.id, ordinal),
        conversation_id=state.conversation.id,
        ordinal=ordinal,
        status=RunStatus.QUEUED,
        created_at=at,
        content=message.content,
        context=message.context,
        position=1 + max((run.position or 0 for run in state.queued.values()), default=0),
        plan_id=message.plan_id,
    )


def _title(draft: Draft, message: Message) -> None:
    """The first message names a conversation that nobody named."""
    title = draft.conversation.title
    if not title:
        text = next((block.text for block in message.content if block.text and block.text.strip()), "")
        title = title_from(text)
    draft.put(ConversationFact.UPDATED, replace(draft.conversation, title=title, updated_at=draft.at))
