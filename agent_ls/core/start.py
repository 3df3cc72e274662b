"""Starting a run: its message joins the transcript, its first attempt is owed.

Owns which facts make a start, how an attempt is made, and which queued run is next. Used when a message is sent, when
a run ends and when a held queue is released.
"""

from agent_ls.core import ids
from agent_ls.core.attempt import Attempt, AttemptFact, AttemptStatus, Reason
from agent_ls.core.draft import Draft
from agent_ls.core.effects import drive
from agent_ls.core.items import ItemKind, UserMessage
from agent_ls.core.run import RunFact


def start(draft: Draft, run_id: str) -> None:
    """Moves a run that is queued (or was just made) to running."""
    run = draft.get_run(run_id)
    message = UserMessage(content=run.content, context=run.context)
    item = draft.add_item(run.id, ids.user_item_id(run.id, 1), ItemKind.USER_MESSAGE, payload=message)
    attempt = new_attempt(draft, run.id, 1, reason=Reason.INITIAL)
    draft.move_run(
        run.id,
        RunFact.STARTED,
        started_at=draft.at,
        user_item_id=item.id,
        active_attempt_id=attempt.id,
        position=None,
        at_once=False,
        content=(),
        context=(),
    )
    draft.put(AttemptFact.CREATED, attempt)
    # Our own loop has nothing to open before it can run: pending and starting are passed through in one commit.
    draft.move_attempt(attempt.id, AttemptFact.RUNNING)
    draft.move_run(run.id, RunFact.RUNNING)


def new_attempt(draft: Draft, run_id: str, n: int, *, reason: Reason) -> Attempt:
    """Pending, owed and not yet recorded. It keeps to the provider and model of now."""
    conversation = draft.conversation
    attempt = Attempt(
        id=ids.attempt_id(run_id, n),
        run_id=run_id,
        conversation_id=conversation.id,
        n=n,
        reason=reason,
        status=AttemptStatus.PENDING,
        read_through=draft.next_seq - 1,
        epoch=draft.state.epoch,
        created_at=draft.at,
        provider=conversation.provider,
        model=conversation.model,
    )
    draft.effects.append(drive(attempt.id, conversation.id))
    return attempt


def start_next(draft: Draft) -> None:
    """Starts the first queued run. One that has to start at once comes first, and passes a queue that is held.

    What was queued while the conversation is compacted waits for that.
    """
    if draft.state.active is None and draft.conversation.compacting is not None:
        return
    waiting = draft.queue()
    first = next((run for run in waiting if run.at_once), None)
    if first is None and not draft.conversation.queue_held:
        first = next(iter(waiting), None)
    if first is not None:
        start(draft, first.id)
