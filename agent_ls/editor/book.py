"""The book of requests: every request is answered exactly once, in both directions.

Owns which requests are open, the order they start in, and what a cancel or a late answer does. Does not own running
them (dispatch) nor sending anything (connection).
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio

MOST_RUNNING = 64
MOST_QUEUED = 2_000

Key = int | str


@dataclass(eq=False)
class Entry:
    """A request of the client's, or a notification (no key), which stands in line but is answered by nobody.

    Its scope ends it when it is cancelled.
    """

    key: Key | None
    method: str
    params: dict[str, Any]
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    running: bool = False
    settled: bool = False


class IncomingBook:
    """The client's requests: started in order, some at a time, each settled once."""

    def __init__(self, *, most_running: int = MOST_RUNNING, most_queued: int = MOST_QUEUED) -> None:
        self._most_running = most_running
        self._most_queued = most_queued
        self._open: dict[Key, Entry] = {}
        self._unsettled: set[Entry] = set()
        self._queue: deque[Entry] = deque()
        self._running = 0
        self._idle = anyio.Event()
        self._idle.set()

    @property
    def queued(self) -> int:
        """How many wait for their turn."""
        return len(self._queue)

    def open(self, key: Key | None, method: str, params: dict[str, Any]) -> Entry | Literal["duplicate", "full"]:
        if key in self._open:
            return "duplicate"
        if len(self._unsettled) >= self._most_queued:
            return "full"
        entry = Entry(key, method, params)
        if key is not None:
            self._open[key] = entry
        self._unsettled.add(entry)
        self._queue.append(entry)
        if self._idle.is_set():
            self._idle = anyio.Event()
        return entry

    def next(self) -> Entry | None:
        """The next request to start; None while enough of them run, or none waits."""
        while self._queue and self._running < self._most_running:
            entry = self._queue.popleft()
            if not entry.settled:
                entry.running = True
                self._running += 1
                return entry
        return None

    def cancel(self, key: Key) -> Entry | None:
        """The request if it has not started and so is to be answered now; one that runs ends by its scope."""
        entry = self._open.get(key)
        if entry is None:
            return None  # answered already, or never seen
        entry.scope.cancel()
        return None if entry.running else entry

    def settle(self, entry: Entry) -> bool:
        """Whether this is the first and only outcome; a later one is not sent."""
        if entry.settled:
            return False
        entry.settled = True
        self._unsettled.discard(entry)
        if entry.key is not None:
            del self._open[entry.key]
        if not self._unsettled:
            self._idle.set()
        return True

    def ended(self, entry: Entry) -> None:
        """Its task is over: another may start."""
        assert entry.running, "only what was started can end"
        entry.running = False
        self._running -= 1

    async def idle(self) -> None:
        """Wait until nothing is owed."""
        await self._idle.wait()


@dataclass(frozen=True)
class Answered:
    """The client's result. Null is a result, and never a decision."""

    result: Any


@dataclass(frozen=True)
class Unanswered:
    """No result: an error of the client's, silence past the time limit, or a link that ended."""

    reason: Literal["error", "timeout", "closed"]
    sentence: str


Outcome = Answered | Unanswered
CLOSED = Unanswered("closed", "The window is gone.")


class _Asked:
    def __init__(self) -> None:
        self.event = anyio.Event()
        self.outcome: Outcome = CLOSED


class OutgoingBook:
    """Our requests to the client. An answer that nobody waits for any more is dropped."""

    def __init__(self, prefix: str) -> None:
        """`prefix` makes ids differ from those of every other daemon that the client may still owe an answer."""
        self._prefix = prefix
        self._count = 0
        self._asked: dict[str, _Asked] = {}
        self._closed = False

    def ask(self) -> str:
        self._count += 1
        key = f"{self._prefix}:{self._count}"
        self._asked[key] = _Asked()
        return key

    async def wait(self, key: str, timeout: float) -> Outcome:
        """What the client answered within `timeout` seconds."""
        asked = self._asked[key]
        try:
            if self._closed:
                return CLOSED
            with anyio.move_on_after(timeout):
                await asked.event.wait()
                return asked.outcome
            return Unanswered("timeout", f"The window did not answer within {timeout:g} s.")
        finally:
            self._asked.pop(key, None)

    def answer(self, message: Mapping[str, Any]) -> bool:
        """Whether somebody waited for it: a late, a second or an unknown answer changes nothing."""
        key = message.get("id")
        asked = self._asked.get(key) if isinstance(key, str) else None
        if asked is None or asked.event.is_set():
            return False
        error = message.get("error")
        if isinstance(error, dict):
            asked.outcome = Unanswered("error", str(error.get("message", "The window refused.")))
        else:
            asked.outcome = Answered(message.get("result"))
        asked.event.set()
        return True

    def close(self) -> None:
        self._closed = True
        for asked in self._asked.values():
            asked.event.set()
