"""What windows are shown of a conversation: from the ledger, and from memory while the ledger cannot be reached.

Owns that a conversation which is loaded here goes on to be shown. Changes nothing, and decides nothing.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from agent_ls.core.events import AnyEntity, Event
from agent_ls.core.ids import conversation_of
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Request
from agent_ls.ports.ledger import LedgerError, Page, Snapshot
from agent_ls.runtime.registry import Registry

T = TypeVar("T")


class Reading:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._ledger = registry.services.ledger

    async def head(self, conversation_id: str) -> Snapshot | None:
        return await self._or(self._ledger.head(conversation_id), conversation_id, _head)

    async def page(self, conversation_id: str, before: str | None, limit: int) -> Page:
        return await self._or(
            self._ledger.page(conversation_id, before, limit),
            conversation_id,
            lambda state: _page(state, before, limit),
        )

    async def events(self, conversation_id: str, after: int, limit: int) -> Sequence[Event] | None:
        """None while only the newest state is known."""
        return await self._or(self._ledger.read(conversation_id, after, limit), conversation_id, lambda state: None)

    async def entity(self, entity_id: str) -> AnyEntity | None:
        """A request, a run, an item: its id begins with its conversation's."""
        return await self._or(
            self._ledger.find(entity_id),
            conversation_of(entity_id),
            lambda state: state.requests.get(entity_id) or state.runs.get(entity_id) or state.items.get(entity_id),
        )

    async def requests(self, workspace: str | None, conversation_id: str | None) -> Sequence[Request]:
        """The pending ones; those of subagents belong to their parents too. Without the ledger: of what is loaded."""
        try:
            found = await self._ledger.requests(workspace, None)
            return [request for request in found if conversation_id is None or request.is_of(conversation_id)]
        except LedgerError:
            states = [actor.state for actor in self._registry.actors() if actor.state.exists]
            if conversation_id is not None and self._registry.live(conversation_id) is None:
                raise
            found = [
                request
                for state in states
                if workspace in (None, state.conversation.workspace)
                for request in state.pending.values()
                if conversation_id is None or request.is_of(conversation_id)
            ]
            return sorted(found, key=lambda request: request.number)

    async def _or(self, read: Awaitable[T], conversation_id: str, known: Callable[[ConversationState], T]) -> T:
        try:
            return await read
        except LedgerError:
            actor = self._registry.live(conversation_id)
            if actor is None or not actor.state.exists:
                raise
            return known(actor.state)


def _head(state: ConversationState) -> Snapshot:
    runs = [run for run in state.runs.values() if not run.ended]
    return Snapshot((state.conversation, *runs, *state.pending.values()), state.seq)


def _page(state: ConversationState, before: str | None, limit: int) -> Page:
    """With the ledger's own cursors, so that paging goes on when it is back."""
    end = int(before) if before is not None and before.isdecimal() else None
    items = sorted((item for item in state.items.values() if end is None or item.ord < end), key=lambda i: i.ord)
    shown = items[-max(1, limit) :]
    return Page(shown, str(shown[0].ord) if len(shown) < len(items) else None)
