"""Connections of httpcore's: head and body of a request leave together, chunks that came together are one.

Owns that what is written goes out with the next read, in one piece: httpcore writes a head, then a body, and each
write would wake the server and let the loop go round once more. TLS is anyio's. Only connecting has a time limit of
the library's; silence is http's to measure.
"""

import ssl
from contextlib import suppress
from typing import Any, Final

import anyio
import httpcore
from anyio.abc import ByteStream
from anyio.streams.tls import TLSAttribute, TLSStream

from agent_ls.adapters.models.plain import Plain, connect
from agent_ls.adapters.models.regroup import Regrouping

MOST_HELD: Final = 256 * 1024
_GONE: Final = (anyio.BrokenResourceError, anyio.ClosedResourceError)


class JoiningBackend(httpcore.AnyIOBackend):
    async def connect_tcp(self, *where: Any, timeout: float | None = None, **how: Any) -> "JoinedStream":
        try:
            with anyio.fail_after(timeout):
                plain = await connect(*where, **how)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(_words(error)) from error
        except OSError as error:
            raise httpcore.ConnectError(_words(error)) from error
        return JoinedStream(plain, plain)


class JoinedStream(httpcore.AsyncNetworkStream):
    """`stream` carries the bytes, over `plain`: itself, or TLS on top of it."""

    def __init__(self, stream: ByteStream, plain: Plain) -> None:
        self._stream = stream
        self._plain = plain
        self._held: list[bytes] = []
        self._size = 0
        self._chunks = Regrouping()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._held:
            # A server may refuse in the middle of a request and hang up: what it said is still there to be read.
            with suppress(httpcore.WriteError):
                await self._flush()
        while True:
            try:
                data = await self._stream.receive(max_bytes)
            except anyio.EndOfStream:
                return b""
            except _GONE as error:
                raise httpcore.ReadError(_words(error)) from error
            if data := self._chunks.feed(data):
                return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer:
            return
        if not self._held:
            self._chunks.asked(buffer)
        self._held.append(buffer)
        self._size += len(buffer)
        if self._size > MOST_HELD:
            await self._flush()

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> "JoinedStream":
        secure: TLSStream | None = None
        try:
            with anyio.fail_after(timeout):
                secure = await TLSStream.wrap(
                    self._stream,
                    ssl_context=ssl_context,
                    hostname=server_hostname,
                    standard_compatible=False,
                    server_side=False,
                )
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(_words(error)) from error
        except (anyio.BrokenResourceError, anyio.EndOfStream, ssl.SSLError) as error:
            raise httpcore.ConnectError(_words(error)) from error
        finally:
            if secure is None:
                await self.aclose()
        return JoinedStream(secure, self._plain)

    def get_extra_info(self, info: str) -> Any:
        match info:
            case "ssl_object":
                return self._stream.extra(TLSAttribute.ssl_object, None)
            case "is_readable":
                return self._plain.readable
        return None

    async def _flush(self) -> None:
        held, self._held, self._size = b"".join(self._held), [], 0
        try:
            await self._stream.send(held)
        except _GONE as error:
            raise httpcore.WriteError(_words(error)) from error


def _words(error: BaseException) -> str:
    return str(error.__cause__ or error)
