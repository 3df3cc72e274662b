"""Effects: work that a commit owes, kept in the ledger until it is settled.

A `process` effect belongs to the daemon that holds the claim and is taken up again by its successor; a `replay`
effect may be repeated safely. Owns how often one is begun before it is given up, and how long each time waits.
"""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

WAITS_S: Final = (0.0, 0.0, 1.0, 2.0, 4.0)
"""Before the first attempt, the second, and so on: a daemon that was killed goes on at once."""

TAKEN_UP: Final = "The daemon that worked on it ended before it was done."


class EffectType(StrEnum):
    DRIVE_ATTEMPT = "attempt.drive"
    WATCH_SHELL = "shell.watch"
    CAPTURE_CHECKPOINT = "checkpoint.capture"
    COMPACT = "conversation.compact"


class EffectClass(StrEnum):
    PROCESS = "process"
    REPLAY = "replay"


@dataclass(frozen=True)
class Effect:
    """`id` is that of what it is for (an attempt, a run, the call of a shell), so one thing never has two effects.

    The rest is the ledger's account. `attempts`: how often it was begun since something last came of it; 0 when a
    daemon that ended properly has left it. `seq`: where the conversation stood when it was begun again. `available_at`:
    until when the next attempt waits. `last_error`: why it had to be begun again.
    """

    id: str
    conversation_id: str
    type: EffectType
    effect_class: EffectClass = EffectClass.PROCESS
    attempts: int = field(default=1, compare=False)
    last_error: str | None = field(default=None, compare=False)
    seq: int | None = field(default=None, compare=False)
    available_at: str | None = field(default=None, compare=False)


def drive(attempt_id: str, conversation_id: str) -> Effect:
    return Effect(attempt_id, conversation_id, EffectType.DRIVE_ATTEMPT)


def next_attempt(effect: Effect, *, seq: int, moved: bool) -> int:
    """Which attempt begins now, in a conversation found at `seq`. `moved`: something came of the last one all the same.

    Only attempts of which nothing came count: a long run may outlive any number of daemons.
    """
    if effect.seq is not None and (moved or effect.seq != seq):
        return 2
    return effect.attempts + 1


def wait_before(attempt: int) -> float | None:
    """Seconds; None when it is not begun any more."""
    return WAITS_S[attempt - 1] if attempt <= len(WAITS_S) else None


def begun_again(effect: Effect, attempt: int, *, seq: int) -> Effect:
    error = TAKEN_UP if attempt > 1 else None
    return replace(effect, attempts=attempt, seq=seq, available_at=None, last_error=error)


def compact(noted: str, conversation_id: str) -> Effect:
    return Effect(noted, conversation_id, EffectType.COMPACT)


def capture(run_id: str, conversation_id: str) -> Effect:
    return Effect(run_id, conversation_id, EffectType.CAPTURE_CHECKPOINT, EffectClass.REPLAY)
