"""Keeping the files of a workspace as they are at the end of a run.

Owns the port and what it may answer. Where nobody keeps any, the answer is `missing`.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class CaptureStatus(StrEnum):
    """`missing`: there was nothing to keep. A run ends as it did even where keeping its files went wrong."""

    READY = "ready"
    MISSING = "missing"
    ERROR = "error"


@dataclass(frozen=True)
class Captured:
    """`message` says why not, for a person."""

    status: CaptureStatus
    message: str = ""


class Checkpoints(Protocol):
    async def capture(self, conversation_id: str, run_id: str) -> Captured:
        """Safe to repeat: after a crash it is asked for again. Trouble is an answer, never an exception."""
        ...


class NoCheckpoints:
    async def capture(self, conversation_id: str, run_id: str) -> Captured:
        return Captured(CaptureStatus.MISSING)
