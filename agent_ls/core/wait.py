"""The wait before a model is asked again: on record, so that it outlives the daemon, and seen by every window.

Owns the facts of a wait: noted, over (or hurried), closed when the run goes another way. Does not own when one is worth
it and how long it is (retry.py).
"""

from dataclasses import dataclass, replace
from typing import Final

from agent_ls.core.attempt import Attempt, AttemptFact, Reason
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import ItemFact
from agent_ls.core.items import ItemKind, ItemStatus, Notice
from agent_ls.core.moments import later
from agent_ls.core.partial import Said, keep_partial
from agent_ls.core.projection import ConversationState
from agent_ls.core.retry import Plan
from agent_ls.core.run import RetryWait, RunFact, unknown_run
from agent_ls.core.start import new_attempt

CODE = "retrying"
STEPS_A_TRY: Final = 10
"""A run of hours outlives more than three short outages; one that gets nowhere is ended after three."""


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """Why the model is asked again: `message` for the person; `shown`: something of an answer was seen."""

    plan: Plan
    message: str
    shown: bool = False


def note(state: ConversationState, asked: Attempt, trouble: Trouble, *, said: Said = (), at: str) -> Decision | None:
    """Where nothing was seen yet the same attempt goes on; else what was seen is kept and a new attempt follows.

    None if the attempt is not the one that counts any more.
    """
    run, attempt = state.runs[asked.run_id], state.attempts[asked.id]
    if not attempt.live or run.interrupt is not None or run.active_attempt_id != asked.id:
        return None
    draft = Draft(state, at)
    keep_partial(draft, asked, said)
    until = later(at, trouble.plan.wait_s)
    payload = Notice(code=CODE, message=trouble.message, until=until, tried=trouble.plan.n, most=trouble.plan.of)
    item = draft.add_item(
        run.id,
        draft.fresh_note_id(run.id, "n"),
        ItemKind.NOTICE,
        payload=payload,
        attempt_id=attempt.id,
        status=ItemStatus.RUNNING,
    )
    next_id = attempt.id
    if trouble.shown:
        draft.move_attempt(attempt.id, AttemptFact.FAILED)
        draft.settled.append(attempt.id)
        follows = new_attempt(draft, run.id, attempt.n + 1, reason=Reason.RETRY)
        draft.put(AttemptFact.CREATED, follows)
        next_id = follows.id
    wait = RetryWait(until=until, item_id=item.id)
    draft.move_run(
        run.id,
        RunFact.RETRY_NOTED,
        retries=run.retries + 1,
        tried=used(state, run.id) + 1,
        tried_at=_answered(state, run.id),
        retry=wait,
        active_attempt_id=next_id,
    )
    return draft.done()


def used(state: ConversationState, run_id: str) -> int:
    """How many tries count against the budget of the run: so many steps that a model answered give one of them back."""
    run = state.runs[run_id]
    tried = run.retries if run.tried is None else run.tried
    return max(0, tried - (_answered(state, run_id) - (run.tried_at or 0)) // STEPS_A_TRY)


def _answered(state: ConversationState, run_id: str) -> int:
    return sum(attempt.steps for attempt in state.attempts.values() if attempt.run_id == run_id)


def over(state: ConversationState, run_id: str, at: str) -> Decision | None:
    """The time has come. None if nothing waits any more."""
    if state.runs[run_id].retry is None:
        return None
    draft = Draft(state, at)
    close(draft, run_id, ItemStatus.COMPLETED)
    draft.move_run(run_id, RunFact.RETRIED, retry=None)
    return draft.done(runId=run_id)


def hurry(state: ConversationState, run_id: str, at: str) -> Decision | Refusal:
    """The person does not want to wait. A wait that has just ended is no mistake of theirs."""
    run = state.runs.get(run_id)
    if run is None:
        return unknown_run(run_id)
    if run.ended:
        return Refusal(
            Code.NOT_FOUND,
            f"Message {run.ordinal} waits for nothing: it is {run.status}.",
            "`agent/run/retry` asks the same input again.",
        )
    decided = None if run.interrupt is not None else over(state, run_id, at)
    return Draft(state, at).done(runId=run_id) if decided is None else decided


def close(draft: Draft, run_id: str, status: ItemStatus) -> None:
    """Its notice counts down no more."""
    wait = draft.get_run(run_id).retry
    if wait is None:
        return
    item = draft.get_item(wait.item_id)
    if item.status is ItemStatus.RUNNING:
        draft.put(ItemFact.UPDATED, replace(item, status=status, updated_at=draft.at))
