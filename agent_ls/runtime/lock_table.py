"""Waiting for locks: the daemon's one lock table as calls use it.

Owns waking and giving back on every way out. Does not own who goes first (core.locks).
"""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
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
    granted: anyio.Event = field(default_factory=anyio.Event)


class LockTable:
    """`changed` is called after each grant and release; it must not raise and cannot wait."""

    def __init__(self, clock: Clock, changed: Callable[[], None] = lambda: None) -> None:
        self._clock = clock
        self._changed = changed
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
            self._changed()
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
        self._changed()
        return partial(self._give_back, ticket)

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
        for following in self._line.release(ticket):
            place = self._places[following.number]
            place.since = self._clock.now()
            place.granted.set()
        self._changed()

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
