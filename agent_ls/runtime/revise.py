"""Edits that wait for a person, while the files that they would change go on changing.

Owns that such a request shows what would run: it is revised under its number when its own lines have changed, and taken
back with a word to the model when it cannot run any more. What changes elsewhere in the file changes nothing. Does not
own who notices a change (windows, the watcher) nor what a tool makes of the file.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Final

from agent_ls.core.amend import follow
from agent_ls.core.errors import Refusal
from agent_ls.core.events import Event
from agent_ls.core.ids import conversation_of
from agent_ls.core.request import Request, RequestKind
from agent_ls.core.uris import NotLocal, file_uri, local_path
from agent_ls.ports.tools import Invalid
from agent_ls.runtime.amend import bound, look
from agent_ls.runtime.patience import patiently, record_patiently
from agent_ls.runtime.payloads import whole_input
from agent_ls.runtime.registry import Registry

# A person who types is not interrupted at every key; what runs is looked at anew in any case.
QUIET_S: Final = 0.3


class Reviser:
    """`watch` is told which files matter now; `touched` hears of canonical keys, `changed` of paths."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._services = registry.services
        self._waiting: dict[str, frozenset[str]] = {}
        self._due: set[str] = set()
        self.watch: Callable[[Collection[str]], None] = lambda paths: None

    def load(self, requests: Iterable[Request]) -> None:
        """What waits since a daemon before this one. Nothing is looked at: its windows may not be back yet."""
        for request in requests:
            self._know(request)
        self._follow()

    def on_events(self, conversation_id: str, events: Sequence[Event]) -> None:
        asked = [event.entity for event in events if isinstance(event.entity, Request)]
        for request in asked:
            self._know(request)
        if asked:
            self._follow()

    def changed(self, paths: Collection[str]) -> None:
        for path in paths:
            self.touched(file_uri(path))

    def touched(self, key: str) -> None:
        """Something happened to a file. Must not wait."""
        for request_id, keys in self._waiting.items():
            if key in keys and request_id not in self._due:
                self._due.add(request_id)
                self._services.supervisor.start(f"look again at {request_id}", partial(self._look_soon, request_id))

    def _know(self, request: Request) -> None:
        self._waiting.pop(request.id, None)
        card = request.card or {}
        if request.pending and request.kind is RequestKind.APPROVAL and card.get("type") == "edit":
            self._waiting[request.id] = frozenset(str(one["uri"]) for one in card.get("files") or [card])

    def _follow(self) -> None:
        paths = [local_path(key) for keys in self._waiting.values() for key in keys]
        self.watch([path for path in paths if not isinstance(path, NotLocal)])

    async def _look_soon(self, request_id: str) -> None:
        await self._services.clock.sleep(QUIET_S)
        self._due.discard(request_id)
        if self._services.drain.begun:
            return
        actor = await self._registry.actor(conversation_of(request_id))
        request = None if isinstance(actor, Refusal) else actor.state.pending.get(request_id)
        if isinstance(actor, Refusal) or request is None:
            return
        call = actor.state.items[request.item_id].call
        given = await patiently(partial(whole_input, call, self._services.ledger.get_blob), self._services.clock)
        if given is None:
            return
        prepared = await look(actor.state, request, given, services=self._services)
        if prepared.passing if isinstance(prepared, Invalid) else prepared.digest == request.digest:
            return
        found = prepared.message if isinstance(prepared, Invalid) else await bound(call, prepared, self._services)
        await record_patiently(
            actor,
            lambda state, at: follow(state, request_id, found, digest=request.digest, at=at),
            self._services.clock,
        )
