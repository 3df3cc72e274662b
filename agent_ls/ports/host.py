"""The machine as the runtime sees it: time, fresh ids. Tests move them."""

from typing import Protocol


class Clock(Protocol):
    def now(self) -> str:
        """RFC 3339 in UTC with milliseconds, `2026-01-31T12:00:00.000Z`."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class Ids(Protocol):
    def fresh(self) -> str:
        """A random id, 32 hex characters."""
        ...
