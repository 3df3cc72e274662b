"""A connection of httpcore's on which head and body of a request leave together.

Owns that what is written goes out with the next read, in one piece: httpcore writes a head, then a body, and each
write would wake the server and let the loop go round once more. Moves bytes as AnyIOBackend does, TLS included.
"""

import ssl
from contextlib import suppress
from typing import Any, Final

import httpcore

MOST_HELD: Final = 256 * 1024


class JoiningBackend(httpcore.AsyncNetworkBackend):
    def __init__(self) -> None:
        self._plain = httpcore.AnyIOBackend()

    async def connect_tcp(self, *where: Any, **how: Any) -> "JoinedStream":
        return JoinedStream(await self._plain.connect_tcp(*where, **how))

    async def sleep(self, seconds: float) -> None:
        await self._plain.sleep(seconds)


class JoinedStream(httpcore.AsyncNetworkStream):
    def __init__(self, plain: httpcore.AsyncNetworkStream) -> None:
        self._plain = plain
        self._held: list[bytes] = []
        self._size = 0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._held:
            # A server may refuse in the middle of a request and hang up: what it said is still there to be read.
            with suppress(httpcore.WriteError):
                await self._flush(timeout)
        return await self._plain.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._held.append(buffer)
        self._size += len(buffer)
        if self._size > MOST_HELD:
            await self._flush(timeout)

    async def aclose(self) -> None:
        await self._plain.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> "JoinedStream":
        return JoinedStream(await self._plain.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._plain.get_extra_info(info)

    async def _flush(self, seconds: float | None) -> None:
        held, self._held, self._size = b"".join(self._held), [], 0
        await self._plain.write(held, seconds)
