"""Files that windows had open when the daemon before this one ended, until they are open again or it is too late.

Owns who waits for what: a tool that wants such a file, and nobody else. Bridges come back within milliseconds; a
window that went away together with the daemon holds up nobody for longer than `RETURN_S`. What a window has open is
put on record as it changes; where, and how that outlives the daemon, is the record's matter.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Protocol

import anyio

RETURN_S: Final = 1.5


class Record(Protocol):
    """`left` is what the daemon before this one had open: for each key, in how many windows."""

    @property
    def left(self) -> Mapping[str, int]: ...

    def opened(self, key: str) -> None: ...

    def closed(self, key: str) -> None: ...

    def forget_left(self) -> None: ...


class Nowhere:
    """A record of nothing, for documents that no other daemon has to know of."""

    left: Mapping[str, int] = {}

    def opened(self, key: str) -> None: ...

    def closed(self, key: str) -> None: ...

    def forget_left(self) -> None: ...


class Returning:
    def __init__(self, record: Record) -> None:
        self._record = record
        self._missing = Counter(record.left)
        self._back = {key: anyio.Event() for key in self._missing}
        self._frozen = False

    def opened(self, key: str) -> None:
        if not self._frozen:
            self._record.opened(key)
        if self._missing[key] > 1:
            self._missing[key] -= 1
        elif event := self._back.pop(key, None):
            event.set()

    def closed(self, key: str) -> None:
        if not self._frozen:
            self._record.closed(key)

    def awaits(self, key: str) -> bool:
        return key in self._back

    async def wait(self, key: str) -> None:
        """Until the file is open again wherever it was."""
        if event := self._back.get(key):
            await event.wait()

    async def give_time(self, sleep: Callable[[float], Awaitable[None]]) -> None:
        """From now on windows can come back; after a while nobody waits for them any more."""
        if not self._back:
            return
        await sleep(RETURN_S)
        self._missing.clear()
        for event in self._back.values():
            event.set()
        self._back.clear()
        self._record.forget_left()

    def freeze(self) -> None:
        """The daemon ends: that its windows leave now says nothing of what they have open."""
        self._frozen = True
