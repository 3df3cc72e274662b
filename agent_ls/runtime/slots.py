"""How many subagents of one person's conversation work at once: the others wait in line.

Owns the count, tree by tree. One that only waits for its own subagents does not count, so that a tree of them can
never wait for itself.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio


@dataclass(eq=False)
class _Place:
    child: str
    parent: str
    granted: anyio.Event = field(default_factory=anyio.Event)


class Slots:
    """`at_once` for each tree, named by its root."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._lines: dict[str, list[_Place]] = {}

    @asynccontextmanager
    async def place(self, root: str, parent: str, child: str, *, at_once: bool) -> AsyncIterator[None]:
        """Waits for a place and gives it back. `at_once`: it works already (a daemon before this one started it)."""
        place = _Place(child, parent)
        line = self._lines.setdefault(root, [])
        line.append(place)
        if at_once:
            place.granted.set()
        self._advance(root)
        try:
            await place.granted.wait()
            yield
        finally:
            line.remove(place)
            if not line:
                del self._lines[root]
            else:
                self._advance(root)

    def would_wait(self, root: str, parent: str) -> bool:
        """Whether one more would stand in line."""
        line = self._lines.get(root, [])
        return len(_busy([*line, _Place("", parent)])) >= self._at_once or any(not p.granted.is_set() for p in line)

    def _advance(self, root: str) -> None:
        line = self._lines[root]
        for place in line:
            if place.granted.is_set():
                continue
            if len(_busy(line)) >= self._at_once:
                return
            place.granted.set()


def _busy(line: list[_Place]) -> list[_Place]:
    """Those that do something themselves."""
    parents = {place.parent for place in line}
    return [place for place in line if place.granted.is_set() and place.child not in parents]
