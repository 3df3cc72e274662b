"""What is deleted for good, and what only takes room: archived conversations after their time, and blobs of nobody.

Owns when it looks (once a day, and some time after a deletion, never while a run goes on), and that a deleted
conversation leaves nothing beside the ledger. Does not own the deletion itself (registry) nor what a blob's use is
(ledger). Logs name things and show nothing that was said.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from anyio import to_thread

from agent_ls.core import delegation
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.items import Call
from agent_ls.core.projection import ConversationState
from agent_ls.ports.blobs import Sweeps
from agent_ls.ports.ledger import LedgerError, ListQuery, Summary
from agent_ls.ports.tools import Spools, spools
from agent_ls.runtime.registry import Registry
from agent_ls.runtime.shells import DELETED

log = logging.getLogger(__name__)

LOOK_S: Final = 60.0
FIRST_S: Final = 600.0
DAY_S: Final = 86_400.0
# From finding a blob unused to removing it: longer than any way from a blob to the commit that names it.
GRACE_S: Final = 600.0


class Housekeeper:
    """`keep_days`: archived conversations in which nothing happened for longer are deleted; None: never.

    `drop_cards` forgets what was written out of requests, `gone` tells windows.
    """

    def __init__(
        self,
        registry: Registry,
        *,
        keep_days: float | None,
        drop_cards: Callable[[Iterable[int]], Awaitable[None]],
        gone: Callable[[str], None],
    ) -> None:
        self._registry = registry
        self._keep_days = keep_days
        self._drop_cards = drop_cards
        self._gone = gone
        self._round_at = registry.services.clock.monotonic() + FIRST_S
        self._sweeps: list[float] = []

    async def watch(self) -> None:
        """For the life of the daemon."""
        services = self._registry.services
        while not services.drain.begun:
            await services.clock.sleep(LOOK_S)
            try:
                await self.look()
            except LedgerError as error:
                log.warning("housekeeping has to wait: %s", error.refusal.code)

    async def look(self) -> None:
        """Does what is due, unless somebody is at work."""
        if self._registry.running() or self._registry.services.drain.begun:
            return
        now = self._registry.services.clock.monotonic()
        if now >= self._round_at:
            self._round_at = now + DAY_S
            await self._delete_old()
            self._sweep_soon()
        if any(due <= now for due in self._sweeps):
            self._sweeps = [due for due in self._sweeps if due > now]
            await self._sweep()

    async def delete(self, command_id: str, conversation_id: str) -> dict[str, Any] | Refusal:
        """Removes a conversation and everything that was kept beside it. Blobs of its own follow some minutes later."""
        actor = await self._registry.actor(conversation_id)
        state = None if isinstance(actor, Refusal) else actor.state
        numbers = [] if state is None else [request.number for request in state.requests.values()]
        spooled = [] if state is None else self._spooled(state)
        if state is not None and not isinstance(actor, Refusal) and state.active is None:
            await self._registry.shells.stop_those_of(actor, DELETED)
            for child in delegation.children(state):
                gone = await self.delete(f"{command_id} {child}", child)
                if isinstance(gone, Refusal) and gone.code is not Code.NOT_FOUND:
                    return gone
        done = await self._registry.delete(command_id, conversation_id)
        if not isinstance(done, Refusal):
            await self._drop_cards(numbers)
            await to_thread.run_sync(self._forget, spooled)
            self._registry.services.feed.clear_all(conversation_id)
            self._gone(conversation_id)
            self._sweep_soon()
        return done

    def _spooled(self, state: ConversationState) -> list[tuple[Spools, str]]:
        toolbox = self._registry.services.toolbox
        calls = [(item.id, item.payload.tool) for item in state.items.values() if isinstance(item.payload, Call)]
        return [(tool, item_id) for item_id, name in calls if spools(tool := toolbox.get(name))]

    def _forget(self, spooled: Iterable[tuple[Spools, str]]) -> None:
        for tool, item_id in spooled:
            tool.forget(item_id, self._registry.services.spool)

    async def _delete_old(self) -> None:
        if self._keep_days is None:
            return
        for conversation_id in await self._old(timedelta(days=self._keep_days)):
            done = await self.delete(f"retention {conversation_id}", conversation_id)
            where = {"conversation": conversation_id}
            if isinstance(done, Refusal):
                log.warning("an old archived conversation could not be deleted: %s", done.code, extra=where)
            else:
                log.info(
                    "deleted %s: archived, and untouched for %g days", conversation_id, self._keep_days, extra=where
                )

    async def _old(self, age: timedelta) -> list[str]:
        services = self._registry.services
        before = datetime.fromisoformat(services.clock.now()) - age
        found: list[str] = []
        cursor: str | None = None
        while True:
            listed, cursor = await services.ledger.conversations(ListQuery(archived=True, cursor=cursor, limit=200))
            found += [each.conversation.id for each in listed if await self._is_old(each, before)]
            if cursor is None:
                return found

    async def _is_old(self, summary: Summary, before: datetime) -> bool:
        """By its newest event: nothing has happened since."""
        known = summary.conversation.id
        busy = summary.active_run or summary.pending_requests or self._registry.services.feed.attached(known)
        newest = [] if busy else await self._registry.services.ledger.read(known, summary.seq - 1, 1)
        try:
            return bool(newest) and datetime.fromisoformat(newest[0].at) < before
        except (ValueError, TypeError):
            return False  # a time that cannot be read is no reason to delete anything

    def _sweep_soon(self) -> None:
        """Once to find what is unused, once more to remove it."""
        now = self._registry.services.clock.monotonic()
        self._sweeps += [now, now + GRACE_S + LOOK_S]

    async def _sweep(self) -> None:
        ledger: object = self._registry.services.ledger
        if isinstance(ledger, Sweeps) and (removed := await ledger.sweep_blobs(GRACE_S)):
            log.info("removed %d blobs that nothing refers to", removed)
