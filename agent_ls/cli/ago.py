"""How long ago something was, in words; from times as the ledger keeps them.

Pure: takes both times. Does not own the clock.
"""

from datetime import UTC, datetime, timedelta


def ago(at: str, now: str) -> str:
    """`3 minutes ago`, `just now`; nothing where a time cannot be read."""
    then, here = _read(at), _read(now)
    if then is None or here is None:
        return ""
    seconds = max(0, int((here - then) / timedelta(seconds=1)))
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        count = seconds // size
        if count:
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return "just now" if seconds < 5 else f"{seconds} seconds ago"


def _read(text: str) -> datetime | None:
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)
