"""What is put right when an invariant does not hold although nobody works on a conversation.

Owns the facts of a repair: what has to be owed again, and the end of a run that nobody can go on with. Pure. When to
look, and in which order these are tried, is runtime.janitor's.
"""

from collections.abc import Collection

from agent_ls.core import compacting, step
from agent_ls.core.attempt import AttemptFact
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.effects import capture, compact, drive
from agent_ls.core.finalize import captured
from agent_ls.core.items import Notice
from agent_ls.core.projection import ConversationState
from agent_ls.core.run import RunStatus
from agent_ls.core.start import start_next


def owe_again(state: ConversationState, *, unsettled: Collection[str], at: str) -> Decision | None:
    """The ledger owes what it has to and nothing else, and who waits without a reason starts. None if that is so."""
    draft = Draft(state, at)
    run = state.active
    attempt = None if run is None else state.attempt_of(run)
    if attempt is not None and attempt.live and attempt.id not in unsettled:
        draft.effects.append(drive(attempt.id, attempt.conversation_id))
    if run is not None and run.status is RunStatus.FINALIZING and run.id not in unsettled:
        draft.effects.append(capture(run.id, run.conversation_id))
    draft.settled += [each.id for each in state.runs.values() if each.ended and each.id in unsettled]
    draft.settled += [each.id for each in state.attempts.values() if not each.live and each.id in unsettled]
    wish = state.conversation.compacting
    if wish is not None and wish.id not in unsettled:
        draft.effects.append(compact(wish.id, state.conversation.id))
    if run is None and wish is None:
        start_next(draft)
    decision = draft.done()
    return decision if decision.facts or decision.effects or decision.settled else None


def worn_out(state: ConversationState, attempt_id: str, *, attempts: int, at: str) -> Decision | None:
    """Ends a run (or a compaction, by its wish) which no daemon has survived. None if it has ended."""
    error = Notice(
        code="given_up",
        message=f"agent-ls ended {attempts} times while it worked on this and nothing came of it, so it was stopped.",
        hint="`agent-ls log` and `agent-ls doctor` may show why; send the message again to go on.",
    )
    if attempt_id not in state.attempts:
        return compacting.give_up(state, error, at, wish_id=attempt_id)
    return step.end(state, state.attempts[attempt_id].run_id, AttemptFact.FAILED, error=error, at=at)


def give_up(state: ConversationState, *, at: str) -> Decision | None:
    """Ends the run that goes on, with its reason. None if there is none."""
    if state.active is None or state.attempt_of(state.active) is None:
        return None
    if state.active.status is RunStatus.FINALIZING:
        return captured(state, state.active.id, at)
    error = Notice(
        code="internal_error",
        message="agent-ls found this run in a state that cannot be, and could not put it right, so it was stopped.",
        hint="`agent-ls log` shows what was found; send the message again to go on.",
    )
    return step.end(state, state.active.id, AttemptFact.FAILED, error=error, at=at)
