"""Whether new work may begin: a daemon's way from serving to its end.

Owns the mode, the deadline and who is still at work. Does not own what a safe point is (driver, batch) nor what
follows once everything has reached one (daemon.lifecycle).
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum

import anyio


class DrainMode(StrEnum):
    """`handoff`: a successor waits for its turn. `shutdown`: nobody does."""

    HANDOFF = "handoff"
    SHUTDOWN = "shutdown"


class Drain:
    """`asked` is set once the daemon has been told to end; from then on no step and no call begins."""

    def __init__(self) -> None:
        self.mode: DrainMode | None = None
        self.asked = anyio.Event()
        self._until = math.inf
        self._at_work: Counter[str] = Counter()
        self._less = anyio.Event()
        self._waiting: anyio.CancelScope | None = None

    @property
    def begun(self) -> bool:
        return self.mode is not None

    @property
    def at_work(self) -> Sequence[str]:
        """Conversations in which something goes on that has not come to a safe point."""
        return list(self._at_work)

    @property
    def left_s(self) -> float:
        return max(0.0, self._until - anyio.current_time()) if self.begun else math.inf

    def begin(self, mode: DrainMode, within_s: float) -> None:
        """Asked again, the earlier deadline counts, and a shutdown wins."""
        if self.mode is not DrainMode.SHUTDOWN:
            self.mode = mode
        self._until = min(self._until, anyio.current_time() + within_s)
        if self._waiting is not None:
            self._waiting.deadline = min(self._waiting.deadline, self._until)
        self.asked.set()

    @contextmanager
    def working(self, conversation_id: str) -> Iterator[None]:
        self._at_work[conversation_id] += 1
        try:
            yield
        finally:
            self._at_work[conversation_id] -= 1
            if not self._at_work[conversation_id]:
                del self._at_work[conversation_id]
            self._less.set()

    async def settled(self, at_most_s: float = math.inf) -> bool:
        """Waits until everything has come to a safe point; False when the time was over before that."""
        until = self._until if at_most_s == math.inf else anyio.current_time() + at_most_s
        with anyio.CancelScope(deadline=until) as self._waiting:
            while self._at_work:
                self._less = anyio.Event()
                await self._less.wait()
        self._waiting = None
        return not self._at_work
