"""The machine's clock and random ids: the one place where time and chance come from."""

import os
import time
import uuid
from datetime import UTC, datetime

import anyio


class SystemClock:
    def now(self) -> str:
        return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


def seconds_since_change(path: str) -> float:
    """Since anything about the file changed, by the clock that stamps files; 0 when it cannot be looked at."""
    try:
        return time.time() - os.stat(path).st_ctime
    except OSError:
        return 0.0


class RandomIds:
    def fresh(self) -> str:
        return uuid.uuid4().hex
