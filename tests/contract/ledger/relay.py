"""A link to a database server that fails as told: cut at a word, silent, or closed. Holds no assertions.

On asyncio's streams: anyio's Unix sockets may report an error of their own when both ends go at the same moment.
"""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio

from agent_ls.testing.postgres import PostgresServer

SOCKET = ".s.PGSQL.5432"


@dataclass(eq=False)
class Link:
    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    answer_is_lost: bool = False

    def cut(self) -> None:
        self.client.transport.abort()
        self.server.transport.abort()


@dataclass
class Relay:
    """`url` leads through it. What is set holds for every connection, also for those that are open."""

    url: str
    # The next time the client says this, the link is cut: before it arrives, or after, and then its answer is lost.
    cut_before: bytes | None = None
    cut_after: bytes | None = None
    refuses: bool = False
    silent: bool = False
    was_cut: anyio.Event = field(default_factory=anyio.Event)
    cuts: int = 0
    _open: list[Link] = field(default_factory=list)

    def cut(self) -> None:
        """Every connection, at once."""
        for link in self._open:
            link.cut()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, behind: str) -> None:
        if self.refuses:
            writer.transport.abort()
            return
        there, answering = await asyncio.open_unix_connection(behind)
        link = Link(writer, answering)
        self._open.append(link)
        async with anyio.create_task_group() as both:
            both.start_soon(self._ask, link, reader)
            both.start_soon(self._answer, link, there)
        self._open.remove(link)

    async def _ask(self, link: Link, reader: asyncio.StreamReader) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                if self.silent:
                    continue
                if self.cut_before is not None and self.cut_before in data:
                    self.cut_before = None
                    self._has_cut()
                    break
                if self.cut_after is not None and self.cut_after in data:
                    self.cut_after = None
                    link.answer_is_lost = True
                link.server.write(data)
        link.cut()

    async def _answer(self, link: Link, reader: asyncio.StreamReader) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                if link.answer_is_lost:
                    self._has_cut()
                    break
                if not self.silent:
                    link.client.write(data)
        link.cut()

    def _has_cut(self) -> None:
        self.cuts += 1
        self.was_cut.set()


@asynccontextmanager
async def relayed(server: PostgresServer, url: str) -> AsyncIterator[Relay]:
    # A short name: the path of a Unix socket ends at about 100 bytes.
    place = Path(tempfile.mkdtemp(prefix="als-y-", dir="/tmp"))
    relay = Relay(url.replace(str(server.root), str(place)))
    serve = partial(relay.serve, behind=str(server.root / SOCKET))
    listener = await asyncio.start_unix_server(serve, place / SOCKET)
    try:
        yield relay
    finally:
        relay.cut()
        listener.close()
        await listener.wait_closed()
        shutil.rmtree(place, ignore_errors=True)
