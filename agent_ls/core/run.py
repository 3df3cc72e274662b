"""A run: one counted exchange, a message of the person until the agent is done.

Owns which facts may follow which. Does not own what a run does meanwhile (attempt.py, owed.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from agent_ls.core.base import Entity, IllegalTransition
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.ids import run_id
from agent_ls.core.items import Block, ContextItem


class RunStatus(StrEnum):
    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    FINALIZING = "finalizing"
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    CANCELLED = "cancelled"
    ROLLED_BACK = "rolled_back"


class RunFact(StrEnum):
    QUEUED = "queued"
    EDITED = "edited"
    STARTED = "started"
    RUNNING = "running"
    STEERED = "steered"
    JOINED = "joined"
    RESTARTED = "restarted"
    RETRY_NOTED = "retry_noted"
    RETRIED = "retried"
    INTERRUPT_NOTED = "interrupt_noted"
    FINALIZING = "finalizing"
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    CANCELLED = "cancelled"
    ROLLED_BACK = "rolled_back"


ENDED: Final = frozenset(
    {RunStatus.COMPLETED, RunStatus.INTERRUPTED, RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.ROLLED_BACK}
)

GOING_ON: Final = frozenset({RunStatus.STARTING, RunStatus.RUNNING, RunStatus.FINALIZING})

TRANSITIONS: Final[Mapping[tuple[RunStatus | None, RunFact], RunStatus]] = {
    (None, RunFact.QUEUED): RunStatus.QUEUED,
    (None, RunFact.STARTED): RunStatus.STARTING,
    (RunStatus.QUEUED, RunFact.EDITED): RunStatus.QUEUED,
    (RunStatus.QUEUED, RunFact.STARTED): RunStatus.STARTING,
    (RunStatus.QUEUED, RunFact.CANCELLED): RunStatus.CANCELLED,
    (RunStatus.STARTING, RunFact.RUNNING): RunStatus.RUNNING,
    (RunStatus.STARTING, RunFact.INTERRUPT_NOTED): RunStatus.STARTING,
    (RunStatus.STARTING, RunFact.INTERRUPTED): RunStatus.INTERRUPTED,
    (RunStatus.STARTING, RunFact.FAILED): RunStatus.FAILED,
    (RunStatus.RUNNING, RunFact.STEERED): RunStatus.RUNNING,
    (RunStatus.RUNNING, RunFact.JOINED): RunStatus.RUNNING,
    (RunStatus.RUNNING, RunFact.RESTARTED): RunStatus.RUNNING,
    (RunStatus.RUNNING, RunFact.RETRY_NOTED): RunStatus.RUNNING,
    (RunStatus.RUNNING, RunFact.RETRIED): RunStatus.RUNNING,
    (RunStatus.RUNNING, RunFact.INTERRUPT_NOTED): RunStatus.RUNNING,
    (RunStatus.RUNNING, RunFact.FINALIZING): RunStatus.FINALIZING,
    (RunStatus.RUNNING, RunFact.INTERRUPTED): RunStatus.INTERRUPTED,
    (RunStatus.RUNNING, RunFact.FAILED): RunStatus.FAILED,
    (RunStatus.FINALIZING, RunFact.COMPLETED): RunStatus.COMPLETED,
    (RunStatus.FINALIZING, RunFact.INTERRUPTED): RunStatus.INTERRUPTED,
    (RunStatus.FINALIZING, RunFact.FAILED): RunStatus.FAILED,
    (RunStatus.COMPLETED, RunFact.ROLLED_BACK): RunStatus.ROLLED_BACK,
    (RunStatus.INTERRUPTED, RunFact.ROLLED_BACK): RunStatus.ROLLED_BACK,
    (RunStatus.FAILED, RunFact.ROLLED_BACK): RunStatus.ROLLED_BACK,
    (RunStatus.CANCELLED, RunFact.ROLLED_BACK): RunStatus.ROLLED_BACK,
}


@dataclass(frozen=True, kw_only=True)
class Interrupt(Entity):
    """A stop that was noted: who asked, from where, when; `hold_queue` keeps queued runs waiting."""

    by: str
    from_: str
    at: str
    hold_queue: bool = True


@dataclass(frozen=True, kw_only=True)
class Steer(Entity):
    """A message that joins the run at its next step border."""

    content: tuple[Block, ...]
    context: tuple[ContextItem, ...] = ()
    at: str = ""


@dataclass(frozen=True, kw_only=True)
class RetryWait(Entity):
    """The model is asked again at `until`; `item_id` is the notice that shows it."""

    until: str
    item_id: str


@dataclass(frozen=True, kw_only=True)
class Run(Entity):
    """`content` is the message; the user item carries it from the start on. `position` orders the queue.

    `steers` have been taken and not yet joined. `plan_id` is the item of the plan that it carries out.
    `retries` counts waits of all attempts, `retry` is one that goes on; `tried` are those that still count against the
    budget, as of `tried_at` steps that were answered (wait.py). `at_once`: it starts as soon as nothing else
    runs, past a held queue. `retry_of` names the run whose input it asks again, `supersedes` the one whose place it
    takes.
    """

    id: str
    conversation_id: str
    ordinal: int
    status: RunStatus
    created_at: str
    content: tuple[Block, ...] = ()
    context: tuple[ContextItem, ...] = ()
    position: int | None = None
    user_item_id: str | None = None
    active_attempt_id: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    interrupt: Interrupt | None = None
    steers: tuple[Steer, ...] = ()
    retries: int = 0
    tried: int | None = None
    tried_at: int | None = None
    retry: RetryWait | None = None
    at_once: bool = False
    retry_of: str | None = None
    plan_id: str | None = None
    supersedes: str | None = None
    error: dict[str, Any] | None = None

    @property
    def ended(self) -> bool:
        return self.status in ENDED


def queued_run(
    conversation_id: str,
    ordinal: int,
    *,
    content: tuple[Block, ...],
    context: tuple[ContextItem, ...],
    position: int,
    at: str,
    **more: Any,
) -> Run:
    return Run(
        id=run_id(conversation_id, ordinal),
        conversation_id=conversation_id,
        ordinal=ordinal,
        status=RunStatus.QUEUED,
        created_at=at,
        content=content,
        context=context,
        position=position,
        **more,
    )


def unknown_run(known: str) -> Refusal:
    return Refusal(Code.NOT_FOUND, f"There is no run `{known}` in this conversation.")


def evolve(run: Run, fact: RunFact, **facts: Any) -> Run:
    """The run after the fact, with the fields that the fact carries."""
    try:
        status = TRANSITIONS[run.status, fact]
    except KeyError:
        raise IllegalTransition(f"run {fact} after {run.status}") from None
    return replace(run, status=status, **facts)
