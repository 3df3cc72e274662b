"""Waiting for locks: the daemon's one lock table as tasks use it.

Owns waking and giving back on every way out. Does not own who goes first (core.locks).
"""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import anyio

from agent_ls.core.locks import Lock, LockTable, Ticket
from agent_ls.ports.host import Clock


@dataclass(frozen=True, kw_only=True)
class Owner:
    """The call that wants keys. Calls of one conversation share them; a child names its parent's as `holder`."""

    conversation_id: str
    run_id: str
    item_id: str
    holder: str = ""


@dataclass(slots=True)
class _Place:
    owner: Owner
    since: str
    granted: anyio.Event = field(default_factory=anyio.Event)


class Locks:
    """`changed` is called after each grant and release, with nothing awaited in between."""

    def __init__(self, clock: Clock, changed: Callable[[], None] = lambda: None) -> None:
        self._clock = clock
        self._changed = changed
        self._table = LockTable()
        self._places: dict[Ticket, _Place] = {}

    @asynccontextmanager
    async def hold(self, keys: Sequence[str], owner: Owner) -> AsyncIterator[None]:
        """Waits until all keys are free, all at once; no keys, no wait. They are given back however the body ends."""
        if not keys:
            yield
            return
        ticket = self._table.ask(owner.holder or owner.conversation_id, keys)
        place = self._places[ticket] = _Place(owner, self._clock.now())
        try:
            self._changed()
            if not self._table.holds(ticket):
                await place.granted.wait()
            yield
        finally:
            self._give_back(ticket)

    def held(self) -> tuple[Lock, ...]:
        return tuple(self._rows(self._table.held, waiting=False))

    def waiting(self) -> tuple[Lock, ...]:
        """In the order in which they asked."""
        return tuple(self._rows(self._table.waiting, waiting=True))

    def _give_back(self, ticket: Ticket) -> None:
        # Never awaits: a cancelled call gives back as surely as one that ended.
        del self._places[ticket]
        for next_ticket in self._table.release(ticket):
            place = self._places[next_ticket]
            place.since = self._clock.now()
            place.granted.set()
        self._changed()

    def _rows(self, tickets: Sequence[Ticket], *, waiting: bool) -> Iterator[Lock]:
        for ticket in tickets:
            place = self._places[ticket]
            row = Lock(
                key="",
                conversation_id=place.owner.conversation_id,
                run_id=place.owner.run_id,
                item_id=place.owner.item_id,
                since=place.since,
                waiting=waiting,
            )
            yield from (replace(row, key=key) for key in ticket.keys)
