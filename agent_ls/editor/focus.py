"""Which windows the person is looking at, as far as anybody can tell.

Owns what each window has said of its focus; one that never says is taken to have it for a while after it was used.
Does not own where a card is shown (surface.board).
"""

from typing import Final
from weakref import WeakKeyDictionary

from agent_ls.ports.host import Clock

USED_S: Final = 60.0


class Focus:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._told: WeakKeyDictionary[object, bool] = WeakKeyDictionary()
        self._used: WeakKeyDictionary[object, float] = WeakKeyDictionary()

    def told(self, window: object, *, focused: bool) -> None:
        self._told[window] = focused

    def used(self, window: object) -> None:
        """By a key or a click, not by an editor that asks by itself."""
        self._used[window] = self._clock.monotonic()

    def has(self, window: object) -> bool:
        known = self._told.get(window)
        if known is not None:
            return known
        since = self._used.get(window)
        return since is not None and self._clock.monotonic() - since < USED_S
