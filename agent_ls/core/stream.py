"""Text in flight: what is shown of an item before it is committed."""

from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """What goes on at an item in flight."""

    THINKING = "thinking"
    ANSWERING = "answering"
    TOOL = "tool"
    RETRYING = "retrying"
    COMPACTING = "compacting"
    WAITING = "waiting"


@dataclass(frozen=True, kw_only=True)
class Stream:
    """Text of an item in flight, as a window that attaches sees it."""

    item_id: str
    cursor: int
    text: str
    phase: Phase = Phase.ANSWERING
    output: str | None = None
