"""What becomes of a message: started, queued, steered or restarted with; decided here and never in the client.

Owns the dispositions. How a message joins a run is steer.py's, how it takes the place of an attempt successor.py's. One
that comes too late is sent as if now.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from agent_ls.core import plans
from agent_ls.core.conversation import title_from
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import ConversationFact
from agent_ls.core.interrupt import note
from agent_ls.core.items import Block, ContextItem
from agent_ls.core.projection import ConversationState
from agent_ls.core.run import Interrupt, Run, RunFact, RunStatus, Steer, queued_run
from agent_ls.core.start import start
from agent_ls.core.steer import can_steer, keeps_model, steer
from agent_ls.core.successor import restart

QUEUE_LIMIT: Final = 300
QUEUE_TOLD: Final = 100
"""From there on whoever queues another one is told how many wait."""


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
    """A message of the person, as it was sent; `retry_of`: the run whose input it asks again."""

    content: tuple[Block, ...]
    context: tuple[ContextItem, ...] = ()
    dispatch: Dispatch = Dispatch.AUTO
    target_run_id: str | None = None
    plan_id: str | None = None
    by: str = ""
    from_: str = ""
    retry_of: str | None = None


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
    _title(draft, message)
    run = state.active
    if run is None:
        if state.conversation.compacting is not None:
            passes = state.conversation.queue_held and message.dispatch is not Dispatch.QUEUE
            return _queued(draft, message, at_once=passes)
        waits = message.dispatch is Dispatch.QUEUE and (state.conversation.queue_held or bool(state.queued))
        return _queued(draft, message) if waits else _started(draft, message)
    if not _is_meant(run, message):
        return _queued(draft, message)
    if can_steer(run):
        return _joined(draft, run, message)
    if message.dispatch is Dispatch.RESTART and run.interrupt is None:
        return _superseding(draft, run, message)
    # It is being stopped, or is over but for its files: as if sent when it has ended, which passes a held queue.
    return _queued(draft, message, at_once=state.conversation.queue_held)


def enter(draft: Draft, run_id: str, message: Steer, *, anew: bool = False) -> Disposition:
    """A message reaches a run while it goes on: at the next step, or by a new attempt, which another model needs."""
    attempt = draft.attempt_of(draft.get_run(run_id))
    if anew or not keeps_model(draft.conversation, attempt):
        restart(draft, run_id, message)
        return Disposition.RESTARTED
    steer(draft, run_id, message)
    return Disposition.STEERED


def _check(state: ConversationState, message: Message) -> Refusal | None:
    if all(block.blank for block in message.content):
        return Refusal(Code.INVALID_PARAMS, "The message is empty.", "Write something, or attach a file or an image.")
    running = state.active
    late = message.target_run_id is not None and (running is None or running.id != message.target_run_id)
    if message.dispatch is Dispatch.START and running is not None and not late:
        return Refusal(
            Code.CONVERSATION_BUSY, "A run is going on in this conversation.", "Queue the message, or stop it."
        )
    return None


def _is_meant(run: Run, message: Message) -> bool:
    """Whether the run that goes on is to hear of it. One that has not quite begun takes nothing in yet."""
    if message.dispatch in (Dispatch.QUEUE, Dispatch.START) or run.status is RunStatus.STARTING:
        return False
    return message.target_run_id in (None, run.id)


def _started(draft: Draft, message: Message) -> Decision:
    run = _new_run(draft.state, message, draft.at)
    draft.put(RunFact.QUEUED, run)
    start(draft, run.id)
    return draft.done(runId=run.id, disposition=str(Disposition.STARTED))


def _queued(draft: Draft, message: Message, *, at_once: bool = False) -> Decision | Refusal:
    waiting = len(draft.state.queued)
    if waiting >= QUEUE_LIMIT:
        return Refusal(Code.QUEUE_FULL, f"{QUEUE_LIMIT} messages are already waiting in this conversation.")
    run = replace(_new_run(draft.state, message, draft.at), at_once=at_once)
    draft.put(RunFact.QUEUED, run)
    told = {"notice": f"{waiting + 1} messages wait in this conversation."} if waiting >= QUEUE_TOLD else {}
    return draft.done(runId=run.id, disposition=str(Disposition.QUEUED), **told)


def _joined(draft: Draft, run: Run, message: Message) -> Decision | Refusal:
    if len(run.steers) >= QUEUE_LIMIT:
        return Refusal(Code.QUEUE_FULL, f"{QUEUE_LIMIT} messages are already waiting to join this run.")
    anew = message.dispatch is Dispatch.RESTART
    joining = Steer(content=message.content, context=message.context, at=draft.at)
    answered = any(each.answers for each in draft.state.attempts.values() if each.run_id == run.id)
    if answered and (anew or not keeps_model(draft.conversation, draft.attempt_of(run))):
        return _superseding(draft, run, message)
    disposition = enter(draft, run.id, joining, anew=anew)
    return draft.done(runId=run.id, disposition=str(disposition))


def _superseding(draft: Draft, run: Run, message: Message) -> Decision | Refusal:
    """What has been answered stays so: a run of its own takes the place of the one that goes on, and is next."""
    if len(draft.state.queued) >= QUEUE_LIMIT:
        return Refusal(Code.QUEUE_FULL, f"{QUEUE_LIMIT} messages are already waiting in this conversation.")
    first = min((waiting.position or 0 for waiting in draft.state.queued.values()), default=1) - 1
    follows = _new_run(draft.state, message, draft.at)
    draft.put(RunFact.QUEUED, replace(follows, position=first, at_once=True, supersedes=run.id))
    if run.status is RunStatus.RUNNING:
        note(draft, run, Interrupt(by=message.by, from_=message.from_, at=draft.at, hold_queue=False))
    return draft.done(runId=follows.id, disposition=str(Disposition.RESTARTED))


def _new_run(state: ConversationState, message: Message, at: str) -> Run:
    return queued_run(
        state.conversation.id,
        state.next_ordinal,
        content=message.content,
        context=message.context,
        position=1 + max((run.position or 0 for run in state.queued.values()), default=0),
        at=at,
        retry_of=message.retry_of,
        plan_id=message.plan_id,
    )


def _title(draft: Draft, message: Message) -> None:
    """The first message names a conversation that nobody named."""
    title = draft.conversation.title
    if not title:
        text = next((block.text for block in message.content if block.text and block.text.strip()), "")
        title = title_from(text)
    draft.put(ConversationFact.UPDATED, replace(draft.conversation, title=title, updated_at=draft.at))
