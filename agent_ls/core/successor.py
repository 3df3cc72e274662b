"""The next attempt of a run: made when the one before is given up, begun once that is really over.

Owns restart steering and the beginning of any attempt that is not the first. What a superseded attempt still says is
nobody's to hear: step.py takes only what the active one was asked for.
"""

from agent_ls.core import wait
from agent_ls.core.attempt import Attempt, AttemptFact, AttemptStatus, Reason
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.finalize import close_open
from agent_ls.core.interrupt import settle_parked
from agent_ls.core.items import ItemStatus
from agent_ls.core.partial import Said, keep_partial
from agent_ls.core.projection import ConversationState
from agent_ls.core.run import RunFact, Steer
from agent_ls.core.start import new_attempt
from agent_ls.core.steer import join, keeps_model


def restart(draft: Draft, run_id: str, message: Steer) -> None:
    """The run goes on with this message, from the start of an attempt. Parked requests are settled at once."""
    run = draft.get_run(run_id)
    before = draft.attempt_of(run)
    steers = (*run.steers, message)
    if before.status is AttemptStatus.PENDING and keeps_model(draft.conversation, before):
        # It has not begun yet: the message joins with the one that it was made for.
        wait.close(draft, run_id, ItemStatus.CANCELLED)
        draft.move_run(run_id, RunFact.RESTARTED, steers=steers, retry=None)
        return
    settle_parked(draft, run_id, "Not run: the person sent a message that changed what to do.")
    wait.close(draft, run_id, ItemStatus.CANCELLED)
    draft.move_attempt(before.id, AttemptFact.SUPERSEDED)
    draft.settled.append(before.id)
    follows = new_attempt(draft, run_id, before.n + 1, reason=Reason.STEERING_RESTART)
    draft.put(AttemptFact.CREATED, follows)
    draft.move_run(run_id, RunFact.RESTARTED, steers=steers, retry=None, active_attempt_id=follows.id)


def begin(
    state: ConversationState, attempt_id: str, *, said: Said = (), by: Attempt | None = None, at: str
) -> Decision | None:
    """`said` is what the attempt `by` had put on the screen. None if this attempt has begun or is not to begin."""
    attempt = state.attempts[attempt_id]
    run = state.runs[attempt.run_id]
    if attempt.status is not AttemptStatus.PENDING or run.interrupt is not None or run.active_attempt_id != attempt_id:
        return None
    draft = Draft(state, at)
    if by is not None and by.run_id == run.id:
        keep_partial(draft, by, said)
    close_open(draft, run.id, "the attempt was given up for another one")
    draft.move_attempt(attempt_id, AttemptFact.RUNNING)
    if run.steers:
        join(draft, run.id)
    else:
        draft.move_attempt(attempt_id, AttemptFact.READ_ON, read_through=draft.next_seq - 1)
    return draft.done()
