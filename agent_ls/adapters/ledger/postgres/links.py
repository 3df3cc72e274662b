"""Connections to the database server: how one is made, a few that are shared, and none that is waited for too long.

Owns time limits and the change from a lost connection to a new one. Does not own what is asked on it, nor the
connection that commits (writer.py).
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import anyio
import asyncpg

from agent_ls.adapters.ledger.handover import closed
from agent_ls.adapters.ledger.postgres.trouble import LOST, TROUBLE, ledger_error, place_of

T = TypeVar("T")

# The driver comes without types.
Connection = Any

SCHEMA: Final = "agent_ls"
MOST: Final = 4


@dataclass(frozen=True)
class Server:
    """Where the ledger is. `limit_s`: no call takes longer."""

    url: str
    limit_s: float

    def __repr__(self) -> str:
        return f"Server({self.place})"

    @property
    def place(self) -> str:
        return place_of(self.url)

    async def connect(self) -> Connection:
        limit_ms = str(int(self.limit_s * 1000))
        return await asyncpg.connect(
            self.url,
            timeout=self.limit_s,
            server_settings={
                "application_name": "agent-ls",
                "search_path": SCHEMA,
                "client_encoding": "UTF8",
                # A database may be set to acknowledge before it is on disk; this ledger's word is given for it.
                "synchronous_commit": "on",
                "default_transaction_isolation": "read committed",
                "lock_timeout": limit_ms,
                "statement_timeout": limit_ms,
                # What a daemon that vanished had locked is free again soon.
                "idle_in_transaction_session_timeout": limit_ms,
                "tcp_keepalives_idle": "10",
                "tcp_keepalives_interval": "5",
                "tcp_keepalives_count": "3",
                # Short statements that come again and again: planning them anew costs more than running them.
                "jit": "off",
                "plan_cache_mode": "force_generic_plan",
            },
        )


class Links:
    """Up to `most` connections, made when they are needed."""

    def __init__(self, server: Server, most: int = MOST) -> None:
        self._server = server
        self._room = anyio.Semaphore(most)
        self._idle: list[Connection] = []
        self._closed = False

    async def run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """`work` on a connection, within the time limit. It may be done twice if the first connection is lost."""
        if self._closed:
            raise closed()
        try:
            with anyio.fail_after(self._server.limit_s):
                async with self._room:
                    return await self._twice(work)
        except asyncpg.IntegrityConstraintViolationError:
            raise
        except TROUBLE as error:
            raise ledger_error(error, self._server.place) from error

    async def close(self) -> None:
        self._closed = True
        while self._idle:
            await end(self._idle.pop(), self._server.limit_s)

    async def _twice(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        if self._idle:
            try:
                return await self._once(self._idle.pop(), work)
            except TimeoutError:
                raise
            except LOST:
                # The server was restarted, say: what else lies idle is of the same age.
                while self._idle:
                    self._idle.pop().terminate()
        return await self._once(await self._server.connect(), work)

    async def _once(self, connection: Connection, work: Callable[[Connection], Awaitable[T]]) -> T:
        try:
            result = await work(connection)
        except BaseException:
            connection.terminate()
            raise
        if self._closed:
            connection.terminate()
        else:
            self._idle.append(connection)
        return result


async def end(connection: Connection, limit_s: float) -> None:
    """Says goodbye to the server if it still listens."""
    with suppress(*TROUBLE):
        await connection.close(timeout=min(1.0, limit_s))
        return
    connection.terminate()
