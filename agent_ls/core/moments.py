"""Moments as the ledger writes them: UTC, to the millisecond, so that texts are in the order of time.

Pure: the clock is a port.
"""

from datetime import datetime, timedelta


def later(moment: str, seconds: float) -> str:
    after = datetime.fromisoformat(moment) + timedelta(seconds=seconds)
    return after.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_between(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
