"""A person who goes on whatever dies: one window kept open, or one opened for each thing to be said and closed again.

Owns saying a command again, with the same id, until it is answered, and coming back to a conversation after a death.
Does not own what is checked (invariants) nor who dies.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, TypeVar

import anyio

from agent_ls.testing.editor import LIMIT_S, Editor, LinkEnded, Refused
from agent_ls.testing.home import Home
from agent_ls.testing.mirror import Mirror

Json = dict[str, Any]
T = TypeVar("T")

CONTENT_MODIFIED: Final = -32801
"""What a bridge answers to what may not be said twice, when its daemon has died."""


class Person:
    """`attached`: looks at one window all the time, behind a bridge. Otherwise nobody looks between two sayings."""

    def __init__(self, home: Home, *, attached: bool) -> None:
        self._home = home
        self._attached = attached
        self._said = 0
        self._window: Editor | None = None
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> "Person":
        if self._attached:
            self._window = await self._stack.enter_async_context(self._home.bridged(self._home.workspace))
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stack.aclose()

    async def command(self, method: str, params: Json) -> Json:
        """Until it is answered; a daemon that dies before that is told again by its successor."""
        self._said += 1
        command = {"commandId": f"person-{self._said}", **params}
        answer: Json = await self._until(lambda window: window.request(method, command))
        return answer

    async def see(self, conversation_id: str, holds: Callable[[Mirror], bool]) -> Mirror:
        """The conversation, once it is as it should be."""

        async def look(window: Editor) -> Mirror:
            boot = window.hello["bootId"]
            mirror = await window.attach(conversation_id)
            await window.wait_for(lambda: holds(mirror) or window.hello["bootId"] != boot)
            if not holds(mirror):
                raise LinkEnded("the daemon died meanwhile")
            return mirror

        return await self._until(look)

    async def history(self, conversation: Mirror) -> list[Json]:
        return await self._until(lambda window: window.history(conversation))

    async def _until(self, talk: Callable[[Editor], Awaitable[T]]) -> T:
        with anyio.fail_after(2 * LIMIT_S):
            while True:
                try:
                    async with self._looking() as window:
                        return await talk(window)
                except (LinkEnded, OSError):
                    continue
                except Refused as refused:
                    if refused.rpc != CONTENT_MODIFIED:
                        raise

    @asynccontextmanager
    async def _looking(self) -> AsyncIterator[Editor]:
        if self._window is not None:
            yield self._window
            return
        async with self._home.editor() as window:
            yield window
