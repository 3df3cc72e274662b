"""The bytes of one connection to a model server: an anyio stream on asyncio's own transport.

Owns reading ahead of whoever takes the bytes, and waiting for a peer that does not read; the links of windows are
read and written in the same way (daemon.link). anyio's own stream goes round the loop at each call and changes what
the loop watches twice for each piece that comes. Does not own what the bytes mean (joined.py).
"""

import asyncio
import select
import socket
from typing import Any, Final

import anyio
from anyio.abc import ByteStream, SocketAttribute

MOST_AHEAD: Final = 1 << 20
NEXT_ADDRESS_S: Final = 0.25


async def connect(host: str, port: int, *, local_address: str | None = None, socket_options: Any = None) -> "Plain":
    """Raises OSError."""
    loop, local = asyncio.get_running_loop(), (local_address, 0) if local_address else None
    _, stream = await loop.create_connection(Plain, host, port, local_addr=local, happy_eyeballs_delay=NEXT_ADDRESS_S)
    for option in socket_options or ():
        stream.extra(SocketAttribute.raw_socket).setsockopt(*option)
    return stream


class Plain(ByteStream, asyncio.Protocol):
    """One task at a time. What the server has sent before it hung up is still received."""

    _transport: asyncio.Transport

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ahead = bytearray()
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._held_up = False
        self._full = False
        self._at_end = False
        self._closed = False
        self._broken: Exception | None = None
        self._gone = anyio.Event()

    @property
    def extra_attributes(self) -> Any:
        transport = self._transport
        return {
            SocketAttribute.raw_socket: lambda: transport.get_extra_info("socket"),
            SocketAttribute.local_address: lambda: transport.get_extra_info("sockname"),
            SocketAttribute.remote_address: lambda: transport.get_extra_info("peername"),
        }

    @property
    def readable(self) -> bool:
        """Whether something can be had without waiting: bytes, or the end, also what the loop has not seen yet."""
        return bool(self._ahead) or self._at_end or self._closed or _has_more(self.extra(SocketAttribute.raw_socket))

    async def receive(self, max_bytes: int = 65536) -> bytes:
        while not self._ahead:
            if self._broken is not None:
                raise anyio.BrokenResourceError from self._broken
            if self._closed:
                raise anyio.ClosedResourceError
            if self._at_end:
                raise anyio.EndOfStream
            self._reader = self._loop.create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        data = bytes(self._ahead[:max_bytes])
        del self._ahead[:max_bytes]
        if self._held_up and len(self._ahead) < MOST_AHEAD:
            self._held_up = False
            self._transport.resume_reading()
        return data

    async def send(self, item: bytes) -> None:
        self._refuse_if_over()
        self._transport.write(item)
        while self._full:
            self._writer = self._loop.create_future()
            try:
                await self._writer
            finally:
                self._writer = None
        self._refuse_if_over()

    async def send_eof(self) -> None:
        self._transport.write_eof()

    async def aclose(self) -> None:
        """What the kernel has not taken is lost."""
        self._closed = True
        self._transport.abort()
        await self._gone.wait()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._ahead += data
        if len(self._ahead) >= MOST_AHEAD:
            self._held_up = True
            self._transport.pause_reading()
        _wake(self._reader)

    def eof_received(self) -> bool:
        self._at_end = True
        _wake(self._reader)
        return True  # what was asked may still be on its way

    def connection_lost(self, exc: Exception | None) -> None:
        self._broken = exc
        self._at_end = True
        self._full = False
        self._gone.set()
        _wake(self._reader)
        _wake(self._writer)

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        _wake(self._writer)

    def _refuse_if_over(self) -> None:
        if self._closed:
            raise anyio.ClosedResourceError
        if self._gone.is_set() or self._transport.is_closing():
            raise anyio.BrokenResourceError from self._broken


def _has_more(known: socket.socket) -> bool:
    look = select.poll()
    look.register(known.fileno(), select.POLLIN)
    return bool(look.poll(0))


def _wake(waiting: "asyncio.Future[None] | None") -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)
