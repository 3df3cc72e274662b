"""HTTP/1.1 with a server that is reached without a proxy: connections that are kept, one exchange at a time on each.

Owns when a connection is used again. What bytes mean is h11's, and errors are httpcore's, whose own pool is used where
there is a proxy (channel.py): its locks, traces and queues are four turns of the loop in each exchange.
"""

import ssl
from collections.abc import AsyncIterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, Final

import anyio
import h11
import httpcore

from agent_ls.adapters.models.joined import JoinedStream, JoiningBackend

MOST_UNFINISHED: Final = 100 * 1024
AT_ONCE: Final = 64 * 1024
SECURE: Final = frozenset({b"https", b"wss"})


class DirectPool:
    """As much of httpcore's pool as is needed. `kept`: how many connections stay open that nobody uses just now."""

    def __init__(self, *, context: ssl.SSLContext | None, kept: int, kept_s: float) -> None:
        self._backend = JoiningBackend()
        self._context = context
        self._kept = kept
        self._kept_s = kept_s
        self._idle: list[_Connection] = []
        self._used: set[_Connection] = set()
        if context is not None:
            context.set_alpn_protocols(["http/1.1"])

    async def handle_async_request(self, request: httpcore.Request) -> httpcore.Response:
        connection = await self._free(request.url.origin) or await self._opened(request)
        self._used.add(connection)
        return await connection.ask(request)

    async def aclose(self) -> None:
        for connection in (*self._idle, *self._used):
            await connection.shut()
        self._idle.clear()
        self._used.clear()

    async def let_go(self, connection: "_Connection", *, whole: bool) -> None:
        """Its exchange is over; `whole`: nothing of it is left on the line."""
        self._used.discard(connection)
        if not whole or len(self._idle) >= self._kept:
            await connection.shut()
            return
        connection.kept_until = monotonic() + self._kept_s
        self._idle.append(connection)

    async def _free(self, origin: httpcore.Origin) -> "_Connection | None":
        for connection in reversed(tuple(self._idle)):
            stale = monotonic() > connection.kept_until or connection.said_more()
            if stale or connection.origin == origin:
                # Another may have taken it while a stale one was closed.
                with suppress(ValueError):
                    self._idle.remove(connection)
                    if not stale:
                        return connection
                    await connection.shut()
        return None

    async def _opened(self, request: httpcore.Request) -> "_Connection":
        origin, limit = request.url.origin, request.extensions["timeout"]["connect"]
        host = origin.host.decode("ascii")
        stream = await self._backend.connect_tcp(host, origin.port, timeout=limit)
        if origin.scheme in SECURE:
            stream = await stream.start_tls(self._context or ssl.create_default_context(), host, timeout=limit)
        return _Connection(stream, origin, self)


class _Connection:
    def __init__(self, stream: JoinedStream, origin: httpcore.Origin, pool: DirectPool) -> None:
        self.origin = origin
        self.kept_until = 0.0
        self._stream = stream
        self._pool = pool
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_UNFINISHED)

    def said_more(self) -> bool:
        """Whether the server said something unasked: it hangs up."""
        return bool(self._stream.get_extra_info("is_readable"))

    async def ask(self, request: httpcore.Request) -> httpcore.Response:
        heard: h11.Response | None = None
        try:
            await self._say(request)
            while heard is None:
                event = await self._next()
                heard = event if isinstance(event, h11.Response) else None
                if isinstance(event, h11.ConnectionClosed):
                    raise httpcore.RemoteProtocolError("Server disconnected without sending a response.")
        finally:
            if heard is None:
                await self._pool.let_go(self, whole=False)
        return httpcore.Response(heard.status_code, headers=heard.headers.raw_items(), content=_Body(self))

    async def pieces(self) -> AsyncIterator[bytes]:
        while True:
            match await self._next():
                case h11.Data(data=data):
                    yield bytes(data)
                case h11.EndOfMessage() | h11.ConnectionClosed():
                    return

    async def over(self) -> None:
        whole = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        if whole:
            self._http.start_next_cycle()
        await self._pool.let_go(self, whole=whole)

    async def shut(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._stream.aclose()

    async def _say(self, request: httpcore.Request) -> None:
        with _told_as_httpcores():
            head = h11.Request(method=request.method, target=request.url.target, headers=request.headers)
            said = [self._http.send(head)]
            async for piece in request.stream:  # type: ignore[union-attr]
                said.append(self._http.send(h11.Data(data=piece)))
            said.append(self._http.send(h11.EndOfMessage()))
        # A server may refuse in the middle of a request and hang up: what it said is still there to be read.
        with suppress(httpcore.WriteError):
            await self._stream.write(b"".join(piece for piece in said if piece))

    async def _next(self) -> Any:
        while True:
            with _told_as_httpcores():
                event = self._http.next_event()
            if event is not h11.NEED_DATA:
                return event
            data = await self._stream.read(AT_ONCE)
            if not data and self._http.their_state is h11.SEND_RESPONSE:
                raise httpcore.RemoteProtocolError("Server disconnected without sending a response.")
            self._http.receive_data(data)


class _Body:
    """What httpcore calls a stream: pieces, and an end that gives the connection back."""

    def __init__(self, connection: _Connection) -> None:
        self._connection: _Connection | None = connection
        self._pieces = connection.pieces()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces

    async def aclose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.over()


@contextmanager
def _told_as_httpcores() -> Any:
    try:
        yield
    except h11.LocalProtocolError as error:
        raise httpcore.LocalProtocolError(str(error)) from error
    except h11.RemoteProtocolError as error:
        raise httpcore.RemoteProtocolError(str(error)) from error
