"""What other daemons have committed: LISTEN on a connection of its own. A hint to look, never the data.

Owns that connection and its renewal. Does not own what is read after a hint.
"""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final

import anyio

from agent_ls.adapters.ledger.postgres.links import Connection, Server, end
from agent_ls.adapters.ledger.postgres.statements import CHANNEL
from agent_ls.adapters.ledger.postgres.trouble import TROUBLE
from agent_ls.ports.host import Clock

FIRST_WAIT_S: Final = 0.2
LONGEST_WAIT_S: Final = 10.0
ALIVE_S: Final = 15.0


class Hints:
    """Each changed conversation once, however often it changed since it was last asked for; "" when a daemon ended."""

    def __init__(self, boot_id: str) -> None:
        self._boot_id = boot_id
        self._changed: dict[str, None] = {}
        self._news = anyio.Event()
        self.lost = False

    def on_notify(self, _connection: Any, _pid: int, _channel: str, payload: str) -> None:
        boot_id, _, conversation_id = payload.partition(" ")
        if boot_id != self._boot_id:
            self._changed[conversation_id] = None
            self._news.set()

    def on_end(self, _connection: Any) -> None:
        self.lost = True
        self._news.set()

    async def next(self, limit_s: float) -> list[str]:
        """What has changed; nothing after `limit_s`, or when the connection is gone."""
        with anyio.move_on_after(limit_s):
            await self._news.wait()
        self._news = anyio.Event()
        changed, self._changed = list(self._changed), {}
        return changed


async def listen(server: Server, boot_id: str, clock: Clock) -> AsyncIterator[str | None]:
    """Ids of conversations that others have changed; None whenever anything may have (first of all, and after a gap).

    Never ends by itself.
    """
    wait = FIRST_WAIT_S
    while True:
        connection = None
        with suppress(*TROUBLE):
            connection = await server.connect()
        if connection is not None:
            try:
                async for hint in _from(connection, server, Hints(boot_id)):
                    wait = FIRST_WAIT_S
                    yield hint
            finally:
                with anyio.CancelScope(shield=True):
                    await end(connection, server.limit_s)
        await clock.sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT_S)


async def _from(connection: Connection, server: Server, hints: Hints) -> AsyncIterator[str | None]:
    """Until the connection is lost. A silent one is asked now and then whether it still lives."""
    connection.add_termination_listener(hints.on_end)
    try:
        with anyio.fail_after(server.limit_s):
            await connection.add_listener(CHANNEL, hints.on_notify)
    except TROUBLE:
        return
    yield None
    while not hints.lost:
        changed = await hints.next(ALIVE_S)
        for conversation_id in changed:
            yield conversation_id or None
        if not changed and not hints.lost:
            try:
                await connection.fetchval("SELECT 1", timeout=server.limit_s)
            except TROUBLE:
                return
