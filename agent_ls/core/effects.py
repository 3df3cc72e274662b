"""Effects: work that a commit owes, kept in the ledger until it is settled.

A `process` effect belongs to the daemon that holds the claim and is taken up again by its successor; a `replay`
effect may be repeated safely.
"""

from dataclasses import dataclass, field
from enum import StrEnum


class EffectType(StrEnum):
    DRIVE_ATTEMPT = "attempt.drive"


class EffectClass(StrEnum):
    PROCESS = "process"
    REPLAY = "replay"


@dataclass(frozen=True)
class Effect:
    """`id` is that of what it drives (an attempt), so one thing never has two effects.

    `attempts` and `last_error` are the ledger's account: how often it was taken up, and why it had to be again.
    """

    id: str
    conversation_id: str
    type: EffectType
    effect_class: EffectClass = EffectClass.PROCESS
    attempts: int = field(default=1, compare=False)
    last_error: str | None = field(default=None, compare=False)


def drive(attempt_id: str, conversation_id: str) -> Effect:
    return Effect(attempt_id, conversation_id, EffectType.DRIVE_ATTEMPT)
