"""Effects: work that a commit owes, kept in the ledger until it is settled.

A `process` effect belongs to the daemon that holds the claim and is taken up again by its successor; a `replay`
effect may be repeated safely.
"""

from dataclasses import dataclass
from enum import StrEnum


class EffectType(StrEnum):
    DRIVE_ATTEMPT = "attempt.drive"


class EffectClass(StrEnum):
    PROCESS = "process"
    REPLAY = "replay"


@dataclass(frozen=True)
class Effect:
    """`id` is that of what it drives (an attempt), so one thing never has two effects."""

    id: str
    conversation_id: str
    type: EffectType
    effect_class: EffectClass = EffectClass.PROCESS


def drive(attempt_id: str, conversation_id: str) -> Effect:
    return Effect(attempt_id, conversation_id, EffectType.DRIVE_ATTEMPT)
