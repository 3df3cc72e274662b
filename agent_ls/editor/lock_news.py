"""`agent/lock/changed`: windows are told which locks are held in their workspaces.

Owns how often: what is taken and given back within a moment is not worth a word. Does not own the locks.
"""

from collections.abc import Callable
from typing import Any, Final
from weakref import WeakKeyDictionary

import anyio

from agent_ls.editor.inbox import Inbox, ToldWindow
from agent_ls.ports.host import Clock
from agent_ls.runtime.lock_table import LockTable
from agent_ls.wire.encode import to_wire

MOMENT_S: Final = 0.2


class LockNews:
    """`refresh` has a window ask again for what it draws of them by itself."""

    def __init__(
        self,
        table: LockTable,
        inbox: Inbox,
        clock: Clock,
        *,
        refresh: Callable[[ToldWindow], None] = lambda window: None,
    ) -> None:
        self._table = table
        self._inbox = inbox
        self._clock = clock
        self._refresh = refresh
        self._news = anyio.Event()
        self._told: WeakKeyDictionary[ToldWindow, list[dict[str, Any]]] = WeakKeyDictionary()
        table.changed = self._news_came

    async def tell(self) -> None:
        """For the life of the daemon."""
        while True:
            await self._news.wait()
            await self._clock.sleep(MOMENT_S)
            self._news = anyio.Event()
            held = self._table.held()
            for window in tuple(self._inbox.windows):
                seen = [lock for lock in held if window.sees(self._inbox.workspace_of(lock.conversation_id))]
                shown = [to_wire(lock) for lock in seen]
                if shown != self._told.get(window, []):
                    self._told[window] = shown
                    window.notify("agent/lock/changed", {"locks": shown})
                    self._inbox.hold(window, seen)
                    self._refresh(window)

    def _news_came(self) -> None:
        self._news.set()
