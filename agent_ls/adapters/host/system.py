"""The machine's clock and random ids: the one place where time and chance come from."""

import os
import time
import uuid
from datetime import UTC, datetime
from typing import Final

import anyio

# Time that a machine slept has passed all the same: leases end in it. Elsewhere than on Linux this one counts it too.
_SINCE_BOOT: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_MACHINE_IDS: Final = ("/etc/machine-id", "/var/lib/dbus/machine-id")


class SystemClock:
    def now(self) -> str:
        return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    def monotonic(self) -> float:
        return time.clock_gettime(_SINCE_BOOT)

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


def seconds_since_change(path: str) -> float:
    """Since anything about the file changed, by the clock that stamps files; 0 when it cannot be looked at."""
    try:
        return time.time() - os.stat(path).st_ctime
    except OSError:
        return 0.0


def host_name() -> str:
    """This machine among others, as `laptop-1f3a90c2`. Containers of one image have the second half in common."""
    for path in _MACHINE_IDS:
        try:
            with open(path, encoding="ascii") as file:
                known = file.read(8).strip()
        except (OSError, ValueError):
            continue
        if known:
            return f"{os.uname().nodename}-{known}"
    return os.uname().nodename


class RandomIds:
    def fresh(self) -> str:
        return uuid.uuid4().hex
