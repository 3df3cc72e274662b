"""Telling the person that something waits while they look at something else: one notice for all that came together.

Owns when: only while no window has the focus, once for each batch. Does not own how a system shows it
(adapters.host.notices).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from agent_ls.core.conversation import Conversation
from agent_ls.core.display import one_line
from agent_ls.core.hooks import HookEvent
from agent_ls.core.request import Request
from agent_ls.runtime.hook_calls import ask
from agent_ls.runtime.services import Services

GATHER_S: Final = 0.3
NAMED: Final = 3

Show = Callable[[str, str], Awaitable[None]]


class Notices:
    """`watched`: whether the person looks at a window; `waits`: whether a request is still pending."""

    def __init__(
        self, services: Services, show: Show, *, watched: Callable[[], bool], waits: Callable[[str], bool]
    ) -> None:
        self._services = services
        self._show = show
        self._watched = watched
        self._waits = waits
        self._batch: list[Request] = []

    def asked(self, requests: Sequence[Request], conversation: Conversation) -> None:
        """Called after a commit; must not wait."""
        first = not self._batch
        self._batch += requests
        if first:
            self._services.supervisor.start("notice", lambda: self._tell(conversation))

    async def _tell(self, conversation: Conversation) -> None:
        await self._services.clock.sleep(GATHER_S)
        batch, self._batch = [request for request in self._batch if self._waits(request.id)], []
        if not batch or self._watched():
            return
        message = _message(batch)
        said: Mapping[str, Any] = {"message": message, "requests": [request.number for request in batch]}
        answer = await ask(self._services, conversation, HookEvent.NOTIFICATION, said=said)
        if answer.refused is None:
            await self._show("agent-ls waits for you", message)


def _message(batch: Sequence[Request]) -> str:
    named = [f"#{request.number} {one_line(request.title, 80)}" for request in batch[:NAMED]]
    more = len(batch) - len(named)
    return "\n".join([*named, *([f"and {more} more"] if more else [])])
