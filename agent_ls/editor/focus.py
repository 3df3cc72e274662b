"""Which windows the person is looking at, as far as anybody can tell.

Owns what each window has said of its focus, and in which order they had it; one that never says is taken to have it
for a while after it was used. Does not own where a card is shown (surface.board, routing).
"""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Final, TypeVar
from weakref import WeakKeyDictionary, ref

from agent_ls.ports.host import Clock

USED_S: Final = 60.0

W = TypeVar("W")


class Focus:
    """`moved` is called when the person has gone to another window, `turned` when one says that it got or lost it."""

    def __init__(self, clock: Clock) -> None:
        self.moved: Callable[[], None] = lambda: None
        self.turned: Callable[[], None] = lambda: None
        self._clock = clock
        self._order: WeakKeyDictionary[object, int] = WeakKeyDictionary()
        self._turns = count(1)
        self._latest: Callable[[], object | None] = lambda: None
        self._told: WeakKeyDictionary[object, bool] = WeakKeyDictionary()
        self._used: WeakKeyDictionary[object, float] = WeakKeyDictionary()

    def told(self, window: object, *, focused: bool) -> None:
        before = self._told.get(window)
        self._told[window] = focused
        if focused:
            self._went(window)
        if focused != before:
            self.turned()

    def used(self, window: object) -> None:
        """By a key or a click, not by an editor that asks by itself."""
        self._used[window] = self._clock.monotonic()
        if window not in self._told:
            self._went(window)

    def told_of(self, window: object) -> bool:
        """Whether the window says that it has it."""
        return self._told.get(window, False)

    def has(self, window: object) -> bool:
        known = self._told.get(window)
        if known is not None:
            return known
        since = self._used.get(window)
        return since is not None and self._clock.monotonic() - since < USED_S

    def last(self, windows: Iterable[W]) -> W | None:
        """That of these in which the person was last; None while nobody knows of any."""
        known = [window for window in windows if window in self._order]
        return max(known, key=lambda window: self._order[window], default=None)

    def _went(self, window: object) -> None:
        """At every key: as good as free while the person stays."""
        if self._latest() is not window:
            self._latest = ref(window)
            self._order[window] = next(self._turns)
            self.moved()
