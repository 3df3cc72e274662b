"""Who may change what just now: locks keyed by canonical URI, where a folder's lock covers what is beneath it.

Owns conflicts, fairness and who goes next. Does not own waiting itself (runtime.lock_table) nor which keys a call
needs (its tool). A call asks once, for all its keys, and asks for nothing while it holds some: so nothing can deadlock.

A call goes when no other holder has a conflicting key and no earlier waiter wants one. What its holder already covers
is given at once. Keys are indexed by path segment: a look-up costs the depth of a path, not the number of
locks.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agent_ls.core.base import Entity


@dataclass(frozen=True)
class Holder:
    """The call that holds or wants keys. Two calls of one conversation conflict as those of two do."""

    conversation_id: str
    run_id: str
    item_id: str


@dataclass(frozen=True, kw_only=True)
class Lock(Entity):
    """One key of one call as people see it. `since` is when it was got, or asked for.

    `waiting`: how many calls wait for it; of one that itself waits, how many conflicting calls are before it.
    """

    key: str
    conversation_id: str
    run_id: str
    item_id: str
    since: str
    waiting: int


@dataclass(frozen=True)
class Ticket:
    """One call's claim on its keys; `number` is its place in line."""

    number: int
    holder: str
    keys: tuple[str, ...]

    def conflicts(self, other: "Ticket") -> bool:
        return any(conflicts(mine, theirs) for mine in self.keys for theirs in other.keys)


def covers(folder: str, key: str) -> bool:
    """A key covers itself and what is beneath it."""
    folder = folder.rstrip("/")
    return key.rstrip("/") == folder or key.startswith(folder + "/")


def conflicts(one: str, other: str) -> bool:
    """Whether calls with these keys must not run at the same time."""
    return covers(one, other) or covers(other, one)


class Line:
    """Held and wanted keys. Not safe for threads; every call returns at once."""

    def __init__(self) -> None:
        self._last = 0
        self._held: dict[int, Ticket] = {}
        self._waiting: dict[int, Ticket] = {}
        self._waiting_of: dict[str, OrderedDict[int, Ticket]] = {}
        self._holds = _Node()
        self._wants = _Node()

    @property
    def held(self) -> tuple[Ticket, ...]:
        return tuple(self._held.values())

    @property
    def waiting(self) -> tuple[Ticket, ...]:
        """In the order in which they asked."""
        return tuple(self._waiting.values())

    def holds(self, ticket: Ticket) -> bool:
        return ticket.number in self._held

    def ask(self, holder: str, keys: Sequence[str]) -> Ticket:
        """A place in line; `holds` says whether it is held already."""
        self._last += 1
        once = {key.rstrip("/"): key for key in reversed(keys)}
        ticket = Ticket(self._last, holder, tuple(reversed(once.values())))
        if self._is_covered(ticket) or self._is_free(ticket):
            self._hold(ticket)
        else:
            self._waiting[ticket.number] = ticket
            self._waiting_of.setdefault(holder, OrderedDict())[ticket.number] = ticket
            for key in ticket.keys:
                self._wants.add(key, ticket)
        return ticket

    def release(self, ticket: Ticket) -> tuple[Ticket, ...]:
        """Gives the keys back, or the place in line; a second time changes nothing. Returns who goes now, in order."""
        if self._held.pop(ticket.number, None) is not None:
            for key in ticket.keys:
                self._holds.remove(key, ticket)
        elif ticket.number in self._waiting:
            self._leave_line(ticket)
        else:
            return ()
        return tuple(self._advance(self._candidates(ticket.keys)))

    def _is_covered(self, ticket: Ticket) -> bool:
        return all(self._holds.covered_by(key, ticket.holder) for key in ticket.keys)

    def _is_free(self, ticket: Ticket) -> bool:
        for key in ticket.keys:
            if self._holds.has_other(key, ticket.holder):
                return False
            first = self._wants.first(key) if self._waiting else None
            if first is not None and first < ticket.number:
                return False
        return True

    def _hold(self, ticket: Ticket) -> None:
        self._held[ticket.number] = ticket
        for key in ticket.keys:
            self._holds.add(key, ticket)

    def _leave_line(self, ticket: Ticket) -> None:
        del self._waiting[ticket.number]
        mine = self._waiting_of[ticket.holder]
        del mine[ticket.number]
        if not mine:
            del self._waiting_of[ticket.holder]
        for key in ticket.keys:
            self._wants.remove(key, ticket)

    def _advance(self, candidates: dict[int, Ticket]) -> Iterator[Ticket]:
        """Candidates in the order of the line; one that goes may let later calls of its own holder go as well."""
        while candidates:
            ticket = candidates.pop(min(candidates))
            if not self._is_free(ticket):
                continue
            self._leave_line(ticket)
            self._hold(ticket)
            for later in self._waiting_of.get(ticket.holder, {}).values():
                if ticket.conflicts(later):
                    candidates[later.number] = later
            yield ticket

    def _candidates(self, keys: tuple[str, ...]) -> dict[int, Ticket]:
        """Waiters that these keys may have held up."""
        found: dict[int, Ticket] = {}
        for key in keys if self._waiting else ():
            found.update(self._wants.next_for(key))
        return found


@dataclass(slots=True)
class _Node:
    """One path segment: tickets on exactly this key, and those on it or beneath it, each in the order of the line.

    Ordered dicts, because taking the first of a plain one gets slower with each one taken before.
    """

    here: OrderedDict[int, Ticket] = field(default_factory=OrderedDict)
    beneath: OrderedDict[int, Ticket] = field(default_factory=OrderedDict)
    holders: dict[str, int] = field(default_factory=dict)
    holders_beneath: dict[str, int] = field(default_factory=dict)
    children: "dict[str, _Node]" = field(default_factory=dict)
    # How many keys of a ticket with several are on or beneath this node.
    counts: dict[int, int] = field(default_factory=dict)

    def add(self, key: str, ticket: Ticket) -> None:
        number, holder, several = ticket.number, ticket.holder, len(ticket.keys) > 1
        node = self
        for segment in (None, *_segments(key)):
            if segment is not None:
                child = node.children.get(segment)
                if child is None:
                    child = node.children[segment] = _Node()
                node = child
            node.beneath[number] = ticket
            node.holders_beneath[holder] = node.holders_beneath.get(holder, 0) + 1
            if several:
                node.counts[number] = node.counts.get(number, 0) + 1
        node.here[number] = ticket
        node.holders[holder] = node.holders.get(holder, 0) + 1

    def remove(self, key: str, ticket: Ticket) -> None:
        number, holder, several = ticket.number, ticket.holder, len(ticket.keys) > 1
        node, segments = self, _segments(key)
        path = [node]
        for segment in segments:
            node = node.children[segment]
            path.append(node)
        del node.here[number]
        _less(node.holders, holder)
        for node in path:
            _less(node.holders_beneath, holder)
            if several and node.counts[number] > 1:
                node.counts[number] -= 1
                continue
            del node.beneath[number]
            if several:
                del node.counts[number]
        while segments and not path.pop().beneath:
            del path[-1].children[segments.pop()]

    def has_other(self, key: str, holder: str) -> bool:
        """Somebody else's key conflicts with this one."""
        node = self
        if _other(node.holders, holder):
            return True
        for segment in _segments(key):
            child = node.children.get(segment)
            if child is None:
                return False
            node = child
            if _other(node.holders, holder):
                return True
        return _other(node.holders_beneath, holder)

    def covered_by(self, key: str, holder: str) -> bool:
        node: _Node | None = self
        for segment in _segments(key):
            if node is None or holder in node.holders:
                break
            node = node.children.get(segment)
        return node is not None and holder in node.holders

    def first(self, key: str) -> int | None:
        """The first in line with a key that conflicts with this one."""
        path = self._path(key)
        above, last = path[:-1], path[-1]
        numbers = [next(iter(node.here)) for node in above if node is not None and node.here]
        if last is not None and last.beneath:
            numbers.append(next(iter(last.beneath)))
        return min(numbers, default=None)

    def next_for(self, key: str) -> dict[int, Ticket]:
        """Who may go when this key is free: the first that wants it or a folder above it, which then holds up all
        after it, and those before it that want something beneath."""
        path = self._path(key)
        fronts = [next(iter(node.here.values())) for node in path if node is not None and node.here]
        front = min(fronts, key=lambda ticket: ticket.number, default=None)
        found = {front.number: front} if front else {}
        last = path[-1]
        if last is not None:
            for ticket in last.beneath.values():
                if front is not None and ticket.number >= front.number:
                    break
                found[ticket.number] = ticket
        return found

    def _path(self, key: str) -> "list[_Node | None]":
        """Nodes from the root to the key; ends with None where nothing is known of the key."""
        node: _Node | None = self
        path: list[_Node | None] = [node]
        for segment in _segments(key):
            assert node is not None
            node = node.children.get(segment)
            path.append(node)
            if node is None:
                break
        return path


def _segments(key: str) -> list[str]:
    return key.rstrip("/").split("/")


def _other(holders: dict[str, int], holder: str) -> bool:
    return len(holders) > (holder in holders)


def _less(counts: dict[str, int], key: str) -> None:
    if counts[key] == 1:
        del counts[key]
    else:
        counts[key] -= 1
