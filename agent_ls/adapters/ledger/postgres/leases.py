"""When a lease ends: the database's clock says so, and the observer's own where that one was set back.

Owns what this daemon has seen of the leases of others. A lease ends at the time that stands in it, and at the latest
its own length after it was last seen to be renewed, by a clock here that nobody sets. Does not own the rows.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from agent_ls.adapters.ledger.postgres.links import Connection
from agent_ls.ports.host import Clock

LOOK_S: Final = 2.0
"""How often somebody has to look, so that no lease of a dead daemon lasts longer than its length and this."""


@dataclass(frozen=True)
class _Seen:
    expires_at: datetime
    renewed: float


class Leases:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: dict[str, _Seen] = {}

    async def watch(self, db: Connection) -> None:
        """Looks at all of them. Those that are not there any more are forgotten."""
        rows = await db.fetch(_ALL)
        self._seen = {boot_id: seen for boot_id, seen in self._seen.items() if any(row[0] == boot_id for row in rows)}
        for row in rows:
            self.left_s(row)

    async def left_of(self, db: Connection, boot_id: str) -> float:
        """Seconds; not above 0 for one that has ended, or is not there."""
        row = await db.fetchrow(_ONE, boot_id)
        return 0.0 if row is None else self.left_s(row)

    async def present(self, db: Connection, host: str) -> bool:
        rows = await db.fetch(_OF_HOST, host)
        return any(self.left_s(row) > 0 for row in rows)

    def left_s(self, row: Any) -> float:
        """Of a row of `COLUMNS`."""
        boot_id, expires_at, ttl_s, by_database = row[0], row[1], float(row[2]), float(row[3])
        now = self._clock.monotonic()
        seen = self._seen.get(boot_id)
        if seen is None or seen.expires_at != expires_at:
            # How old it is already is the database's to tell, unless that cannot be.
            age = min(max(0.0, ttl_s - by_database), ttl_s)
            seen = self._seen[boot_id] = _Seen(expires_at, now - age)
        return min(by_database, seen.renewed + ttl_s - now)


COLUMNS: Final = "l.boot_id, l.expires_at, l.ttl_s, extract(epoch FROM l.expires_at - clock_timestamp())"

_ALL: Final = f"SELECT {COLUMNS} FROM lease l"

_ONE: Final = f"{_ALL} WHERE l.boot_id = $1"

_OF_HOST: Final = f"{_ALL} WHERE l.host = $1"
