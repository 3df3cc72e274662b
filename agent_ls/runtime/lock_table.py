"""Waiting for locks: the daemon's one lock table as calls use it.

Owns waking and giving back on every way out. Does not own who goes first (core.locks).
"""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import anyio

from agent_ls.core.locks import Holder, Line, Lock, Ticket, conflicts
from agent_ls.ports.host import Clock


@dataclass(slots=True)
class _Place:
    holder: Holder
    since: str
    taken: list[str] = field(default_factory=list)
    granted: anyio.Event = field(default_factory=anyio.Event)


class LockTable:
    """`changed` is called after each grant and release; it must not raise and cannot wait."""

    def __init__(self, clock: Clock, changed: Callable[[], None] = lambda: None) -> None:
        self._clock = clock
        self.changed = changed
        self._line = Line()
        self._places: dict[int, _Place] = {}

    @asynccontextmanager
    async def hold(self, keys: Sequence[str], holder: Holder, *, since: str) -> AsyncIterator[None]:
        """Waits until all keys are free, all at once; no keys, no wait. They are given back however the body ends.

        `since` is the time of asking. Whoever asks first goes first, calls of one conversation included.
        """
        if not keys:
            yield
            return
        ticket = self._line.ask(holder.item_id, keys)
        place = self._places[ticket.number] = _Place(holder, since)
        try:
            self.changed()
            if not self._line.holds(ticket):
                await place.granted.wait()
            yield
        finally:
            self._give_back(ticket)

    def seize(self, keys: Sequence[str], holder: Holder, *, since: str) -> Callable[[], None] | None:
        """All keys at once if they are free now, else nothing. The result gives them back, once."""
        if not keys:
            return lambda: None
        ticket = self._line.ask(holder.item_id, keys)
        if not self._line.holds(ticket):
            self._line.release(ticket)
            return None
        self._places[ticket.number] = _Place(holder, since)
        self.changed()
        return partial(self._give_back, ticket)

    def take_over(self, key: str) -> bool:
        """A person takes the key from whoever holds it; False if nobody does.

        All keys of that call are given back: it got them all at once, and whatever it still does is without a right.
        """
        found = [ticket for ticket in self._line.held if key in ticket.keys]
        for ticket in found:
            self._places[ticket.number].taken.append(key)
            self._grant(self._line.release(ticket))
        if found:
            self.changed()
        return bool(found)

    def taken_from(self, item_id: str) -> tuple[str, ...]:
        """Keys that a person has taken over from this call, while it has not ended."""
        mine = (place for place in self._places.values() if place.holder.item_id == item_id)
        return tuple(key for place in mine for key in place.taken)

    def held(self) -> tuple[Lock, ...]:
        waiting = self._line.waiting
        return tuple(
            self._row(ticket, key, waiting=sum(_wants(other, key) for other in waiting))
            for ticket in self._line.held
            for key in ticket.keys
        )

    def waiting(self) -> tuple[Lock, ...]:
        """In the order in which they asked."""
        return tuple(self._waiting_rows())

    def _give_back(self, ticket: Ticket) -> None:
        # Never awaits: a cancelled call gives back as surely as one that ended.
        del self._places[ticket.number]
        self._grant(self._line.release(ticket))
        self.changed()

    def _grant(self, tickets: Iterable[Ticket]) -> None:
        for following in tickets:
            place = self._places[following.number]
            place.since = self._clock.now()
            place.granted.set()

    def _waiting_rows(self) -> Iterator[Lock]:
        ahead = list(self._line.held)
        for ticket in self._line.waiting:
            for key in ticket.keys:
                yield self._row(ticket, key, waiting=sum(_wants(other, key) for other in ahead))
            ahead.append(ticket)

    def _row(self, ticket: Ticket, key: str, *, waiting: int) -> Lock:
        place = self._places[ticket.number]
        return Lock(
            key=key,
            conversation_id=place.holder.conversation_id,
            run_id=place.holder.run_id,
            item_id=place.holder.item_id,
            since=place.since,
            waiting=waiting,
        )


def _wants(ticket: Ticket, key: str) -> bool:
    return any(conflicts(mine, key) for mine in ticket.keys)
