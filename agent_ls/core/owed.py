"""What a conversation owes next, read from its state alone.

The same answer after a crash, an idle release or a decision of the person: the runtime does it and looks again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_ls.core.attempt import AttemptFact, AttemptStatus
from agent_ls.core.call import SETTLED
from agent_ls.core.items import CallState, Item
from agent_ls.core.locks import conflicts
from agent_ls.core.projection import ConversationState
from agent_ls.core.run import Run, RunStatus
from agent_ls.core.steer import unanswered


@dataclass(frozen=True)
class Nothing:
    """No run is active, or a person has to answer first."""


@dataclass(frozen=True)
class AskModel:
    run_id: str
    attempt_id: str


@dataclass(frozen=True)
class RunCalls:
    """Calls that may start now, in call order."""

    run_id: str
    item_ids: tuple[str, ...]


@dataclass(frozen=True)
class Join:
    """A step border is reached: what the person said meanwhile joins."""

    run_id: str


@dataclass(frozen=True)
class Wait:
    """The model is asked again at that time, or sooner if the person hurries."""

    run_id: str
    until: str


@dataclass(frozen=True)
class Begin:
    """An attempt takes the place of another one, once that is really over."""

    run_id: str
    attempt_id: str


@dataclass(frozen=True)
class End:
    run_id: str
    outcome: AttemptFact


@dataclass(frozen=True)
class Capture:
    """The run is over but for the files, which are kept as they are now."""

    run_id: str


@dataclass(frozen=True)
class Compact:
    """The person wants the conversation compacted: between two steps of the run, or where none goes on."""

    run_id: str | None


Owed = Nothing | AskModel | RunCalls | Join | Wait | Begin | End | Capture | Compact


def owed(state: ConversationState) -> Owed:
    run = state.active
    if run is None:
        return Compact(None) if state.exists and state.conversation.compacting is not None else Nothing()
    if run.status is RunStatus.FINALIZING:
        return Capture(run.id)
    if run.interrupt is not None:
        return End(run.id, AttemptFact.INTERRUPTED)
    attempt = state.attempt_of(run)
    if attempt is None or not attempt.live:
        return Nothing()
    if run.retry is not None:
        return Wait(run.id, run.retry.until)
    if attempt.status is AttemptStatus.PENDING:
        return Begin(run.id, attempt.id)
    calls = state.step_calls(attempt)
    runnable = ready(calls)
    if runnable:
        return RunCalls(run.id, tuple(item.id for item in runnable))
    if _waits_for_person(state, run, calls):
        return Nothing()
    if run.steers:
        return Join(run.id)
    if attempt.steps and not calls and not unanswered(state, attempt):
        return End(run.id, AttemptFact.COMPLETED)
    if state.conversation.compacting is not None:
        return Compact(run.id)
    return AskModel(run.id, attempt.id)


def ready(calls: Sequence[Item]) -> list[Item]:
    """Approved calls, but none that conflicts with an earlier one that is undecided or itself waits behind one."""
    found: list[Item] = []
    waiting: list[Item] = []
    for item in calls:
        match item.call.state:
            case CallState.APPROVED if not any(_conflict(item, earlier) for earlier in waiting):
                found.append(item)
            case CallState.APPROVED | CallState.AWAITING_APPROVAL:
                waiting.append(item)
            case _:
                pass
    return found


def _conflict(one: Item, other: Item) -> bool:
    return any(conflicts(mine, theirs) for mine in one.call.keys for theirs in other.call.keys)


def _waits_for_person(state: ConversationState, run: Run, calls: Sequence[Item]) -> bool:
    if any(request.run_id == run.id for request in state.pending.values()):
        return True
    return any(item.call.state not in SETTLED for item in calls)
