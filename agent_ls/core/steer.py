"""Steering: a message that reaches a run while it goes on.

Owns that it joins at the next step border (never between a call and its result), that a run does not end over it, and
what becomes of it when the run ends first. Which messages steer is dispatch.py's.
"""

from agent_ls.core import ids
from agent_ls.core.attempt import Attempt, AttemptFact, made_by
from agent_ls.core.conversation import Conversation
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.items import Item, ItemKind, UserMessage
from agent_ls.core.projection import ConversationState
from agent_ls.core.run import Run, RunFact, RunStatus, Steer, queued_run


def can_steer(run: Run | None) -> bool:
    """A run that is being stopped, or has not begun, takes nothing in any more."""
    return run is not None and run.status is RunStatus.RUNNING and run.interrupt is None


def keeps_model(conversation: Conversation, attempt: Attempt) -> bool:
    """Whether the person still wants the model that the attempt began with."""
    return made_by(conversation, attempt) == (conversation.provider, conversation.model)


def steer(draft: Draft, run_id: str, message: Steer) -> None:
    run = draft.get_run(run_id)
    draft.move_run(run_id, RunFact.STEERED, steers=(*run.steers, message))


def join(draft: Draft, run_id: str, *, answers: tuple[str, ...] = ()) -> None:
    """The border is reached: what was said joins the transcript, in the order in which it came.

    `answers`: messages that the step before has answered for good.
    """
    run = draft.get_run(run_id)
    said = sum(1 for item in draft.run_items(run_id) if item.kind is ItemKind.USER_MESSAGE)
    for n, message in enumerate(run.steers, start=said + 1):
        payload = UserMessage(content=message.content, context=message.context)
        draft.add_item(run_id, ids.user_item_id(run_id, n), ItemKind.USER_MESSAGE, payload=payload)
    attempt = draft.attempt_of(run)
    answered = (*attempt.answers, *answers)
    draft.move_attempt(attempt.id, AttemptFact.READ_ON, read_through=draft.next_seq - 1, answers=answered)
    draft.move_run(run_id, RunFact.JOINED, steers=())


def join_now(state: ConversationState, run_id: str, at: str) -> Decision | None:
    """None if nothing waits to join, or the run takes nothing in any more."""
    run = state.runs[run_id]
    if not run.steers or not can_steer(run):
        return None
    draft = Draft(state, at)
    join(draft, run_id)
    return draft.done()


def unanswered(state: ConversationState, attempt: Attempt) -> bool:
    """Whether the person has spoken after the attempt's newest step."""
    for item_id in reversed(state.run_items.get(attempt.run_id, [])):
        item: Item = state.items[item_id]
        if item.kind is ItemKind.USER_MESSAGE:
            return True
        if item.step_id is not None:
            return False
    return False


def too_late(draft: Draft, run_id: str) -> None:
    """The run ends first: what has not joined waits in front of the queue, as if it were sent now."""
    run = draft.get_run(run_id)
    if not run.steers:
        return
    first = min((waiting.position or 0 for waiting in draft.state.queued.values()), default=1)
    ordinal = draft.state.next_ordinal
    for n, message in enumerate(run.steers):
        queued = queued_run(
            run.conversation_id,
            ordinal + n,
            content=message.content,
            context=message.context,
            position=first - len(run.steers) + n,
            at=message.at or draft.at,
        )
        draft.put(RunFact.QUEUED, queued)
    draft.move_run(run_id, RunFact.JOINED, steers=())
