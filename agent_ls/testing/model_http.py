"""As much of HTTP/1.1 as a scripted server needs, over asyncio's streams.

Owns reading requests and writing whole or chunked answers on one connection. Does not know what is asked.
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

HEAD_END = b"\r\n\r\n"


@dataclass(frozen=True)
class HttpRequest:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class HttpConnection:
    """One client. What comes while an answer is on its way is kept, and an end of file is seen at once."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._kept = bytearray()
        self._chunked = False

    async def request(self) -> HttpRequest | None:
        """The next request; None when the client has gone."""
        while (end := self._kept.find(HEAD_END)) < 0:
            if not await self._more():
                return None
        first, *lines = bytes(self._kept[:end]).decode("latin-1").split("\r\n")
        del self._kept[: end + len(HEAD_END)]
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        while len(self._kept) < length:
            if not await self._more():
                return None
        body = bytes(self._kept[:length])
        del self._kept[:length]
        method, path, _ = first.split(" ", 2)
        return HttpRequest(method, path.partition("?")[0], headers, body)

    async def gone(self) -> None:
        """Returns when the client has closed the connection."""
        while await self._more():
            pass

    async def whole(self, status: int, body: Any, headers: Mapping[str, str]) -> None:
        kind = "text/html" if isinstance(body, bytes | str) else "application/json"
        content = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        given = {name.lower() for name in headers}
        lines = {} if "content-type" in given else {"Content-Type": kind}
        if "content-length" not in given:
            lines["Content-Length"] = str(len(content))
        self._head(status, {**lines, **headers})
        await self._send(content)

    async def begin(self, *, until_close: bool) -> None:
        self._chunked = not until_close
        framing = {"Connection": "close"} if until_close else {"Transfer-Encoding": "chunked"}
        self._head(200, {"Content-Type": "text/event-stream", "Cache-Control": "no-cache", **framing})
        await self._writer.drain()

    async def piece(self, data: bytes) -> None:
        await self._send(b"%x\r\n%s\r\n" % (len(data), data) if self._chunked else data)

    async def end(self) -> None:
        if self._chunked:
            await self._send(b"0\r\n\r\n")

    def reset(self) -> None:
        self._writer.transport.abort()

    async def close(self) -> None:
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        try:
            phrase = HTTPStatus(status).phrase
        except ValueError:
            phrase = "Unknown"
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._writer.write(f"HTTP/1.1 {status} {phrase}\r\n{lines}\r\n".encode("latin-1"))

    async def _send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def _more(self) -> bool:
        try:
            data = await self._reader.read(65536)
        except OSError:
            return False
        self._kept += data
        return bool(data)
