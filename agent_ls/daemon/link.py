"""The bytes of one accepted link, on asyncio's own transport.

Owns that what was sent is with the kernel when `send` returns, and what the kernel takes at once. Reading ahead and
waiting for a peer that does not read are as with a model server (adapters.models.plain). Does not own what the bytes
mean (editor). anyio's stream for such a socket changes what the loop watches twice for each message; here the loop
watches once.
"""

import asyncio
import socket
from typing import Self

from agent_ls.adapters.models.plain import Plain


class Link(Plain):
    """One task receives, one sends. What the peer has sent before it hung up is still received."""

    _socket: socket.socket

    @classmethod
    async def of(cls, accepted: socket.socket) -> Self:
        _, link = await asyncio.get_running_loop().connect_accepted_socket(cls, accepted)
        link._socket = accepted
        return link

    def offer(self, data: bytes) -> int:
        """How many of these bytes the kernel takes at once, if nothing waits before them. Must not wait."""
        if self._closed or self._full or self._transport.is_closing():
            return 0
        try:
            return self._socket.send(data)
        except OSError:
            return 0  # what is wrong with it, `send` finds out

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        # `send` returns when all of it is out, so that its caller knows how fast the peer reads.
        self._transport.set_write_buffer_limits(0)
