"""Bytes to a model server and back, for every wire over HTTP.

Owns the time limits and what a broken connection means; the connections are channel's. Does not know any server's
words: a wire brings its path, body, headers and decoder. Nothing is tried again here.
"""

import asyncio
import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

import anyio
from pydantic_core import PydanticSerializationError, to_json

from agent_ls.adapters.models import failures
from agent_ls.adapters.models.broken import Broken, explained, words
from agent_ls.adapters.models.failures import Spoken
from agent_ls.core.addresses import is_loopback
from agent_ls.core.messages import Reply
from agent_ls.ports.provider import Cause, Emit, Failure, Frame

if TYPE_CHECKING:
    from agent_ls.adapters.models.channel import Answer, Channel

OK: Final = 200
LARGEST_ERROR: Final = 256 * 1024
LARGEST_LIST: Final = 16 * 1024 * 1024
RESOLUTION_S: Final = 0.001
# A proxy that is none or of a kind that needs another library, no more files, a trust store that cannot be read.
UNPREPARED: Final = (OSError, ValueError, ImportError)


@dataclass(frozen=True, kw_only=True)
class HttpLimits:
    """Seconds. First byte: of the body, from the start on; a local server may be loading its model then.

    `pings_only_s`: how long signs of life without any event of the answer are believed. `tail_s`: how long counts may
    follow a whole answer; `drain_s`: how long the end of the body may follow its last event.
    """

    connect_s: float = 10
    first_byte_s: float = 60
    local_first_byte_s: float = 600
    idle_s: float = 90
    pings_only_s: float = 900
    tail_s: float = 5
    drain_s: float = 0.1


class StreamDecoder(Protocol):
    """What a wire makes of the body. Sans I/O."""

    over: bool
    shown: bool
    events: int

    @property
    def settled(self) -> bool: ...

    def feed(self, chunk: bytes) -> Sequence[Frame]: ...

    def end(self, *, cut_by: str | None = None) -> Reply | Failure: ...


class ModelHttp:
    """One server, shared by all conversations. The channel is made at the first request, or by `warm_up`."""

    def __init__(self, *, base_url: str, headers: Mapping[str, str], limits: HttpLimits) -> None:
        self.base_url = base_url.rstrip("/")
        self._headers = dict(headers)
        self._limits = limits
        self._local = is_loopback(base_url)
        self._channel: Channel | None = None

    def warm_up(self) -> None:
        """Importing the HTTP library takes longer than a whole step; do it before the first message."""
        with contextlib.suppress(*UNPREPARED):  # the first message says what is wrong
            self._opened()

    async def close(self) -> None:
        if self._channel is not None:
            channel, self._channel = self._channel, None
            await channel.close()

    async def stream(
        self, path: str, body: Any, *, headers: Mapping[str, str], spoken: Spoken, decoder: StreamDecoder, emit: Emit
    ) -> Reply | Failure:
        channel = self._prepared(spoken)
        if isinstance(channel, Failure):
            return channel
        content = _encoded(body)
        with anyio.CancelScope() as scope, _Deadlines(scope, self._limits, local=self._local) as clock:
            try:
                known = {"Content-Type": "application/json", "Accept": "text/event-stream", **headers}
                sent = channel.send("POST", path, headers=known, content=content)
                async with contextlib.aclosing(await sent) as answer:
                    if answer.status != OK:
                        return await _refused(answer, spoken)
                    clock.answered = True
                    await self._read(answer, decoder, emit=emit, clock=clock)
            except Broken as error:
                if decoder.settled:
                    return decoder.end()
                if clock.answered:
                    return decoder.end(cut_by=str(error))
                return explained(error, spoken, connect_s=self._limits.connect_s)
            return decoder.end()
        if decoder.settled:
            return decoder.end()
        return failures.timeout(spoken, clock.complaint, shown=decoder.shown)

    async def get(self, path: str, *, headers: Mapping[str, str], spoken: Spoken) -> Any | Failure:
        """A JSON body. The same limits: what is asked here is asked while a person waits."""
        channel = self._prepared(spoken)
        if isinstance(channel, Failure):
            return channel
        with anyio.CancelScope(deadline=anyio.current_time() + self._limits.first_byte_s):
            try:
                async with contextlib.aclosing(await channel.send("GET", path, headers=headers)) as answer:
                    if answer.status != OK:
                        return await _refused(answer, spoken)
                    body = await _read_at_most(answer, LARGEST_LIST)
            except Broken as error:
                return explained(error, spoken, connect_s=self._limits.connect_s)
            try:
                return json.loads(body)
            except ValueError:
                return failures.nonsense(spoken, "answered with something else", sample=failures.plain(body))
        return failures.timeout(spoken, f"did not answer within {self._limits.first_byte_s:g} s")

    async def _read(self, answer: "Answer", decoder: StreamDecoder, *, emit: Emit, clock: "_Deadlines") -> None:
        async with contextlib.aclosing(answer.pieces()) as pieces:
            async for piece in pieces:
                seen = decoder.events
                for frame in decoder.feed(piece):
                    emit(frame)
                if decoder.over:
                    # The body's own end is read, so that the connection can be used again, but not waited for.
                    clock.wait(self._limits.drain_s)
                elif decoder.settled:
                    clock.wait(self._limits.tail_s)
                else:
                    clock.life(progress=decoder.events != seen)

    def _prepared(self, spoken: Spoken) -> "Channel | Failure":
        try:
            return self._opened()
        except UNPREPARED as error:
            message = (
                f"No connection to {spoken.address} could be prepared. Check the proxy in the daemon's environment"
                " (HTTPS_PROXY, ALL_PROXY), SSL_CERT_FILE, and how many files it may open; then `agent-ls restart`."
            )
            return Failure(Cause.NETWORK, message, detail=failures.shorten(spoken, words(error)))

    def _opened(self) -> "Channel":
        if self._channel is None:
            from agent_ls.adapters.models.channel import Channel

            self._channel = Channel(self.base_url, self._headers, direct=self._local, connect_s=self._limits.connect_s)
        return self._channel


class _Deadlines:
    """When a silent stream is given up, moved on with each sign of life.

    A token moves it thousands of times a second, so that only a number is written then; one timer looks at the number
    when it rings and sets itself again.
    """

    def __init__(self, scope: anyio.CancelScope, limits: HttpLimits, *, local: bool) -> None:
        self._scope = scope
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        first = limits.local_first_byte_s if local else limits.first_byte_s
        self.answered = False  # with a status, though perhaps no byte of a body yet
        self._heard = False
        self.complaint = f"did not begin to answer within {first:g} s"
        self._progress = self._loop.time()
        self._due = self._progress + first
        self._timer = self._loop.call_at(self._due, self._ring)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def life(self, *, progress: bool) -> None:
        now = self._loop.time()
        limits = self._limits
        if progress or not self._heard:
            self._progress = now
        first, self._heard = not self._heard, True
        idle, believed = now + limits.idle_s, self._progress + limits.pings_only_s
        if idle <= believed:
            self.complaint = f"fell silent for {limits.idle_s:g} s"
            self._due = idle
        else:
            self.complaint = f"sent only signs of life for {limits.pings_only_s:g} s"
            self._due = believed
        if first or self._due < self._timer.when():
            self._set()

    def wait(self, seconds: float) -> None:
        self._due = self._loop.time() + seconds
        self._set()

    def _set(self) -> None:
        self._timer.cancel()
        self._timer = self._loop.call_at(self._due, self._ring)

    def _ring(self) -> None:
        if self._loop.time() + RESOLUTION_S >= self._due:
            self._scope.cancel()
        else:
            self._set()


async def _refused(answer: "Answer", spoken: Spoken) -> Failure:
    body = await _read_at_most(answer, LARGEST_ERROR)
    return failures.from_status(spoken, answer.status, body, retry_after=answer.header("retry-after"))


async def _read_at_most(answer: "Answer", limit: int) -> bytes:
    body = b""
    async with contextlib.aclosing(answer.pieces()) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) >= limit:
                break
    return body[:limit]


def _encoded(body: Any) -> bytes:
    """A history is sent again with every step, so this is done by what does it fastest."""
    try:
        return to_json(body)
    except PydanticSerializationError:  # half a surrogate pair, which no server could read
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
