"""How a server of tools is reached: as a child process over stdio, or over HTTP.

Owns the process's folder, environment and last words, and that its end is noticed when nobody asks it anything.
"""

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import anyio

from agent_ls.adapters.mcp.pipes import pipes
from agent_ls.adapters.mcp.sdk import Sdk
from agent_ls.core.textfile import printable
from agent_ls.core.tool_server import ToolServer

_LAST_WORDS: Final = 400


@dataclass(frozen=True)
class Transport:
    """`open` gives the SDK its pair of streams and sets the event when the server has gone."""

    open: Callable[[anyio.Event], AbstractAsyncContextManager[Any]]
    last_words: Callable[[], str]


def stdio(lib: Sdk, server: ToolServer, *, folder: str, environment: Mapping[str, str]) -> Transport:
    """A child process in a session of its own, without the daemon's secrets."""
    own = {**environment, **server.env}
    words = _LastWords()

    @asynccontextmanager
    async def open_(gone: anyio.Event) -> AsyncIterator[Any]:
        reader, writer = os.pipe()
        async with anyio.create_task_group() as group:
            group.start_soon(words.hear, reader)
            with os.fdopen(writer, "w") as said:
                async with pipes(lib, server.command, environment=own, folder=folder, errors=said) as (read, write):
                    said.close()
                    yield _Watched(read, gone), write
            group.cancel_scope.cancel()

    return Transport(open_, words.tell)


def http(lib: Sdk, server: ToolServer) -> Transport:
    @asynccontextmanager
    async def open_(gone: anyio.Event) -> AsyncIterator[Any]:
        async with (
            lib.http_session(headers=dict(server.headers), timeout=server.timeout_s) as session,
            lib.http_client(server.url, http_client=session) as (read, write),
        ):
            yield _Watched(read, gone), write

    return Transport(open_, lambda: "")


class _Watched:
    """A stream that says when it has ended."""

    def __init__(self, stream: Any, gone: anyio.Event) -> None:
        self._stream = stream
        self._gone = gone

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> "_Watched":
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)

    def __aiter__(self) -> "_Watched":
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._stream.__anext__()
        except (StopAsyncIteration, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._gone.set()
            raise

    async def receive(self) -> Any:
        try:
            return await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._gone.set()
            raise


class _LastWords:
    """The end of what a server writes to stderr: read all the time, so that it never waits for us, and not kept."""

    def __init__(self) -> None:
        self._end = b""

    async def hear(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        try:
            while True:
                await anyio.wait_readable(descriptor)
                chunk = os.read(descriptor, 65536)
                if not chunk:
                    return
                self._end = (self._end + chunk)[-_LAST_WORDS:]
        finally:
            os.close(descriptor)

    def tell(self) -> str:
        flat = printable(" ".join(self._end.decode("utf-8", "replace").split()))
        return f" Its last words: {flat}" if flat else ""
