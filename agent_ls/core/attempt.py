"""An attempt: one try at a run on one backing, and the steps (requests to the model) it took.

Owns which facts may follow which, and the count of steps from which step ids follow.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from agent_ls.core.base import Entity, IllegalTransition
from agent_ls.core.conversation import Conversation
from agent_ls.core.ids import step_id
from agent_ls.core.items import Usage
from agent_ls.core.run import RunStatus


class AttemptStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


class AttemptFact(StrEnum):
    CREATED = "created"
    RUNNING = "running"
    STEPPED = "stepped"
    READ_ON = "read_on"
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


class Reason(StrEnum):
    INITIAL = "initial"
    STEERING_RESTART = "steering_restart"
    RETRY = "retry"
    RECOVERY = "recovery"


_ENDS: Final[Mapping[AttemptFact, AttemptStatus]] = {
    AttemptFact.COMPLETED: AttemptStatus.COMPLETED,
    AttemptFact.INTERRUPTED: AttemptStatus.INTERRUPTED,
    AttemptFact.FAILED: AttemptStatus.FAILED,
    AttemptFact.CANCELLED: AttemptStatus.CANCELLED,
}

ENDS_RUN: Final[Mapping[AttemptStatus, RunStatus]] = {
    AttemptStatus.COMPLETED: RunStatus.COMPLETED,
    AttemptStatus.INTERRUPTED: RunStatus.INTERRUPTED,
    AttemptStatus.FAILED: RunStatus.FAILED,
}
"""A run ends as its active attempt did."""

ENDED_BY: Final[Mapping[RunStatus, AttemptStatus]] = {run: attempt for attempt, run in ENDS_RUN.items()}

TRANSITIONS: Final[Mapping[tuple[AttemptStatus | None, AttemptFact], AttemptStatus]] = {
    (None, AttemptFact.CREATED): AttemptStatus.PENDING,
    (AttemptStatus.PENDING, AttemptFact.RUNNING): AttemptStatus.RUNNING,
    (AttemptStatus.PENDING, AttemptFact.SUPERSEDED): AttemptStatus.SUPERSEDED,
    (AttemptStatus.RUNNING, AttemptFact.SUPERSEDED): AttemptStatus.SUPERSEDED,
    (AttemptStatus.RUNNING, AttemptFact.STEPPED): AttemptStatus.RUNNING,
    (AttemptStatus.RUNNING, AttemptFact.READ_ON): AttemptStatus.RUNNING,
    **{(AttemptStatus.RUNNING, fact): status for fact, status in _ENDS.items()},
}


@dataclass(frozen=True, kw_only=True)
class Attempt(Entity):
    """`steps` counts finished steps; `read_through` is the ledger seq up to which its next step reads.

    `last_stop` is the stop reason of the newest step; `usage` the sum over steps, `last_usage` the newest step's.
    `provider` and `model` are those it began with, "" in ledgers of before: a change counts from the next attempt on.
    `answers` names the person's messages that it has answered.
    """

    id: str
    run_id: str
    conversation_id: str
    n: int
    reason: Reason
    status: AttemptStatus
    read_through: int
    epoch: int
    created_at: str
    steps: int = 0
    last_stop: str | None = None
    usage: Usage = field(default_factory=Usage)
    last_usage: Usage | None = None
    answers: tuple[str, ...] = ()
    provider: str = ""
    model: str = ""

    @property
    def live(self) -> bool:
        return self.status in (AttemptStatus.PENDING, AttemptStatus.RUNNING)

    @property
    def step_id(self) -> str:
        """Id of the step that comes next. The same after a crash, so that a late duplicate lands on the same rows."""
        return step_id(self.id, self.steps + 1, self.read_through)


def made_by(conversation: Conversation, attempt: Attempt) -> tuple[str, str]:
    """Provider and model that it asks: those of now in ledgers that do not say."""
    if attempt.provider:
        return attempt.provider, attempt.model
    return conversation.provider, conversation.model


def evolve(attempt: Attempt, fact: AttemptFact, **facts: Any) -> Attempt:
    try:
        status = TRANSITIONS[attempt.status, fact]
    except KeyError:
        raise IllegalTransition(f"attempt {fact} after {attempt.status}") from None
    return replace(attempt, status=status, **facts)
