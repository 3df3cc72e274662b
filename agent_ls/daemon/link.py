"""The bytes of one accepted link: an anyio stream on asyncio's own transport.

Owns reading ahead and waiting for a peer that does not read. Does not own what the bytes mean (editor). anyio's stream
for such a socket goes round the loop and changes what the loop watches at each call, twice for each message; here the
loop watches once, and what was sent is with the kernel when `send` returns.
"""

import asyncio
import socket
from typing import Final, Self

import anyio
from anyio.abc import ByteStream

MOST_AHEAD: Final = 1 << 20


class Link(ByteStream, asyncio.Protocol):
    """One task receives, one sends. What the peer has sent before it hung up is still received."""

    _transport: asyncio.Transport
    _socket: socket.socket

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

    @classmethod
    async def of(cls, accepted: socket.socket) -> Self:
        _, link = await asyncio.get_running_loop().connect_accepted_socket(cls, accepted)
        link._socket = accepted
        return link

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

    def offer(self, data: bytes) -> int:
        """How many of these bytes the kernel takes at once, if nothing waits before them. Must not wait."""
        if self._closed or self._full or self._transport.is_closing():
            return 0
        try:
            return self._socket.send(data)
        except OSError:
            return 0  # what is wrong with it, `send` finds out

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
        # `send` returns when all of it is out, so that its caller knows how fast the peer reads.
        transport.set_write_buffer_limits(0)

    def data_received(self, data: bytes) -> None:
        self._ahead += data
        if len(self._ahead) >= MOST_AHEAD:
            self._held_up = True
            self._transport.pause_reading()
        _wake(self._reader)

    def eof_received(self) -> bool:
        self._at_end = True
        _wake(self._reader)
        return True  # who has said its last may still be waiting for answers

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


def _wake(waiting: "asyncio.Future[None] | None") -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)
