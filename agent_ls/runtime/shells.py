"""Background shells from the result of their call to the notice of their end.

Owns that each is watched by one task, that its end is written down whoever loads the conversation meanwhile, and when
it is ended: with its conversation (archived, deleted, taken over by another daemon) and with the daemon. The processes
are a port's (ports.shells), the facts are core.shell_ends'.
"""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Final

import anyio

from agent_ls.core import shell_ends
from agent_ls.core.errors import Refusal
from agent_ls.core.shells import Shell
from agent_ls.runtime.actor import Actor
from agent_ls.runtime.patience import Fenced, record_patiently
from agent_ls.runtime.services import Services

log = logging.getLogger(__name__)

ARCHIVED: Final = "the conversation was archived"
DELETED: Final = "the conversation was deleted"
TAKEN_OVER: Final = "another daemon took the conversation over"
# TERM, its grace, KILL, and one commit.
END_S: Final = 6.0


class ShellWatch:
    """`find` gives the actor of a conversation, loaded if it has to be."""

    def __init__(self, services: Services, find: Callable[[str], Awaitable[Actor | Refusal]]) -> None:
        self._services = services
        self._find = find
        self._told: dict[str, anyio.Event] = {}

    def look(self, actor: Actor) -> None:
        """After each commit. Must not wait."""
        for shell in actor.state.shells.values():
            self._watch(actor.id, shell)
        if actor.state.shells and actor.state.conversation.archived:
            self._services.supervisor.start(f"shells of {actor.id}", partial(self.stop_those_of, actor, ARCHIVED))

    async def settle_left(self, actor: Actor) -> None:
        """What a daemon before this one has left is ended, and that is written down."""
        for shell in list(actor.state.shells.values()):
            if not self._services.shells.running(shell.item_id):
                said = await self._services.shells.left(shell.item_id, self._services.spool)
                await self._record(actor, shell.item_id, said)

    async def stop_those_of(self, actor: Actor, why: str) -> None:
        shells = list(actor.state.shells.values())
        if not shells:
            return  # without a wait: a message that came after a deletion must not overtake it
        async with anyio.create_task_group() as group:
            for shell in shells:
                group.start_soon(self.stop, shell.item_id, why)

    async def stop_all(self, why: str) -> None:
        """Ends every one, and waits until that is on record, but not for ever."""
        async with anyio.create_task_group() as group:
            for item_id in list(self._told):
                group.start_soon(self.stop, item_id, why)

    async def stop(self, item_id: str, why: str) -> None:
        told = self._told.get(item_id)
        with anyio.move_on_after(END_S):
            await self._services.shells.stop(item_id, why)
            if told is not None:
                await told.wait()

    def drop(self, actor: Actor) -> None:
        """The conversation is not this daemon's any more: neither are its shells."""
        for shell in actor.state.shells.values():
            stop = partial(self.stop, shell.item_id, TAKEN_OVER)
            self._services.supervisor.start(f"end of shell {shell.id}", stop)

    def _watch(self, conversation_id: str, shell: Shell) -> None:
        item_id = shell.item_id
        if item_id in self._told or not self._services.shells.running(item_id):
            return
        watch = partial(self._until_its_end, conversation_id, item_id)
        if self._services.supervisor.start(f"shell {shell.id}", watch):
            self._told[item_id] = anyio.Event()

    async def _until_its_end(self, conversation_id: str, item_id: str) -> None:
        try:
            said = await self._services.shells.over(item_id)
            actor = await self._find(conversation_id)
            if not isinstance(actor, Refusal):
                with suppress(Fenced):
                    await self._record(actor, item_id, said)
        finally:
            self._told.pop(item_id).set()

    async def _record(self, actor: Actor, item_id: str, said: str) -> None:
        await record_patiently(
            actor, lambda state, at: shell_ends.end(state, item_id, said, at=at), self._services.clock
        )
        log.info("a background shell has ended", extra={"conversation": actor.id, "item": item_id})
