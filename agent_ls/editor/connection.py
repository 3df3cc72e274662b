"""One link to an editor, a bridge or a CLI: messages in, handlers started, replies and notices out.

Owns the life of a link (before `initialize`, served, after `shutdown`), that every request gets one reply, and that
reading waits neither for writing nor for a handler. Does not own what any method does: handlers come as a table.

Handlers run side by side; those of one link start in the order their messages came, and each runs up to its first
wait before the next one starts.
"""

import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Any

import anyio
from anyio import lowlevel
from anyio.abc import ByteStream, TaskGroup

from agent_ls.core.errors import Refused
from agent_ls.editor import dispatch
from agent_ls.editor.book import Entry, IncomingBook, Outcome, OutgoingBook, Unanswered
from agent_ls.editor.dispatch import CANCELLED, INVALID_PARAMS, METHOD_NOT_FOUND, NOT_INITIALIZED
from agent_ls.editor.framing import (
    INVALID_REQUEST,
    PARSE_ERROR,
    BadMessage,
    Decoded,
    LostBorder,
    Message,
    MessageDecoder,
)
from agent_ls.editor.outbound import Outbound

Handler = Callable[["Connection", dict[str, Any]], Awaitable[Any]]

CHUNK = 256 * 1024
CROWDED = 256  # messages that wait for their turn
PASSES = 16
GRACE_S = 1.0  # how long replies may still be made and written after the client has said its last
CLIENT_S = 30.0
CLOSE_S = 5.0

log = logging.getLogger(__name__)
_numbers = count(1)


class Connection:
    """Subclasses say what `initialize` answers and what follows it; `serve` is the whole life of the link."""

    def __init__(
        self,
        stream: ByteStream,
        handlers: Mapping[str, Handler],
        *,
        denied: Refused | None = None,
        outbound: Outbound | None = None,
    ) -> None:
        """`denied`: this peer gets that answer to whatever it asks."""
        self.number = next(_numbers)
        self.outbound = outbound or Outbound()
        self.outbound.offer = getattr(stream, "offer", None)
        self._stream = stream
        self._handlers = handlers
        self._denied = denied
        self._incoming = IncomingBook()
        self._outgoing = OutgoingBook(f"{os.getpid()}.{self.number}")
        self._initialized = False
        self._shut = False
        self._ended = "stopped"
        self._ending = anyio.Event()
        self._after_reply: list[Callable[[], None]] = []

    async def on_initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        """The result of `initialize`. Nothing else is read before it is there, so it must not take long."""
        return {"capabilities": {}}

    def on_ready(self) -> None:
        """`initialize` has been answered: the place for `agent/hello`."""

    async def on_close(self) -> None:
        """The link has ended, whatever ended it."""

    async def serve(self) -> str:
        """Serve the link until it ends; why it ended. Closes the stream. A bug here ends this link only."""
        try:
            if not await dispatch.contained("a connection", self._serve):
                self._ended = "a bug of agent-ls"
        finally:
            self._outgoing.close()
            self.outbound.close()
            with anyio.move_on_after(CLOSE_S, shield=True):
                await self._stream.aclose()
                await dispatch.contained("closing a connection", self.on_close)
        log.info("connection %d ended: %s", self.number, self._ended)
        return self._ended

    async def _serve(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._write, tasks)
            tasks.start_soon(self._watch_overflow, tasks)
            tasks.start_soon(self._watch_end, tasks)
            self._ended = await self._read(tasks)
            with anyio.move_on_after(GRACE_S):
                await self._incoming.idle()
                await self.outbound.drained()
            tasks.cancel_scope.cancel()

    def after_reply(self, work: Callable[[], None]) -> None:
        """Do `work` once the reply of the handler that asks for it is queued. That handler must not wait any more."""
        self._after_reply.append(work)

    def end(self, reason: str) -> None:
        """End the link from our side, after what was put out so far has been written."""
        self._ended = reason
        self._ending.set()

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        self.outbound.put({"jsonrpc": "2.0", "method": method, "params": params})

    async def request(self, method: str, params: Mapping[str, Any], timeout: float = CLIENT_S) -> Outcome:
        """Ask the client. Silence past `timeout` seconds is an outcome too, and takes the question back."""
        key = self._outgoing.ask()
        self.outbound.put({"jsonrpc": "2.0", "id": key, "method": method, "params": params})
        open_still = True
        try:
            outcome = await self._outgoing.wait(key, timeout)
            open_still = isinstance(outcome, Unanswered) and outcome.reason == "timeout"
            return outcome
        finally:
            if open_still:
                self.notify("$/cancelRequest", {"id": key})

    # Reading

    async def _read(self, tasks: TaskGroup) -> str:
        decoder = MessageDecoder()
        while True:
            try:
                data = await self._stream.receive(CHUNK)
            except anyio.EndOfStream:
                return "the client closed it"
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return "the client is gone"
            for message in decoder.feed(data):
                if end := await self._take(message):
                    return end
                self._start(tasks)
                await self._let_run()

    async def _let_run(self) -> None:
        """A burst (ten thousand keys, a window that comes back) is worked off before more of it is read.

        Bounded: handlers that wait may hold up what stands behind them, but not the reading of answers.
        """
        for _ in range(PASSES):
            if self._incoming.queued <= CROWDED:
                return
            await lowlevel.checkpoint()

    async def _take(self, message: Decoded) -> str | None:
        """Deal with one message; why the link ends if it does."""
        match message:
            case LostBorder(sentence):
                log.warning("connection %d: %s", self.number, sentence)
                self._reply(None, dispatch.failure(PARSE_ERROR, sentence))
                return sentence
            case BadMessage(code, sentence):
                log.warning("connection %d: %s", self.number, sentence)
                self._reply(None, dispatch.failure(code, sentence))
                return None
            case _:
                return await self._message(message)

    async def _message(self, message: Message) -> str | None:
        method, key = message.get("method"), message.get("id")
        if not isinstance(method, str):
            if "result" in message or "error" in message:
                self._outgoing.answer(message)
            else:
                self._reply(_key(key), dispatch.failure(INVALID_REQUEST, "A message has no method."))
            return None
        params = message.get("params")
        if "id" not in message:
            return self._notification(method, {} if params is None else params)
        key = _key(key)
        if key is None:
            self._reply(None, dispatch.failure(INVALID_REQUEST, "The id of a request is a number or a string."))
        elif params is not None and not isinstance(params, dict):
            self._reply(key, dispatch.failure(INVALID_PARAMS, f"The parameters of {method} are an object."))
        else:
            await self._request(key, method, params or {})
        return None

    def _notification(self, method: str, params: Any) -> str | None:
        if method == "exit":
            return "exit"
        if method == "$/cancelRequest":
            key = _key(params.get("id")) if isinstance(params, dict) else None
            if key is not None and (entry := self._incoming.cancel(key)):
                self._settle(entry, _CANCELLED)
        elif self._initialized and not self._shut and not self._denied and method in self._handlers:
            if isinstance(params, dict):
                if self._incoming.open(None, method, params) == "full":
                    return "too many notifications wait"
            else:
                log.warning("connection %d: %s without an object of parameters", self.number, method)
        return None

    async def _request(self, key: int | str, method: str, params: dict[str, Any]) -> None:
        if wrong := self._not_served(method):
            self._reply(key, wrong)
        elif method == "initialize":
            answer = await dispatch.outcome(method, lambda: self.on_initialize(params))
            self._initialized = "result" in answer
            self._reply(key, answer)
            if self._initialized:
                self.on_ready()
        elif method == "shutdown":
            self._shut = True
            self._reply(key, {"result": None})
        else:
            self._open(key, method, params)

    def _not_served(self, method: str) -> Message | None:
        if self._denied:
            return dispatch.refusal(self._denied)
        if method == "initialize":
            again = self._initialized or self._shut
            return dispatch.failure(INVALID_REQUEST, "This connection is initialized already.") if again else None
        if not self._initialized:
            return dispatch.failure(NOT_INITIALIZED, f"{method} came before initialize. Send that first.")
        if self._shut:
            return dispatch.failure(INVALID_REQUEST, f"{method} came after shutdown. Open a new connection.")
        if method not in self._handlers and method != "shutdown":
            return dispatch.failure(METHOD_NOT_FOUND, f"agent-ls has no method {method}.")
        return None

    # Running handlers

    def _open(self, key: int | str, method: str, params: dict[str, Any]) -> None:
        match self._incoming.open(key, method, params):
            case "duplicate":
                self._reply(key, dispatch.failure(INVALID_REQUEST, "A request with this id is not answered yet."))
            case "full":
                self._reply(key, dispatch.failure(dispatch.REFUSED, "Too many requests wait.", _TOO_MANY))
            case Entry():
                pass

    def _start(self, tasks: TaskGroup) -> None:
        while entry := self._incoming.next():
            tasks.start_soon(self._run, entry, tasks, name=entry.method)

    async def _run(self, entry: Entry, tasks: TaskGroup) -> None:
        answer = _CANCELLED
        try:
            with entry.scope:
                # Cancelled in the moment between its turn and its start: nothing of it may happen.
                if not entry.scope.cancel_called:
                    handler = self._handlers[entry.method]
                    answer = await dispatch.outcome(entry.method, lambda: handler(self, entry.params))
        finally:
            self._settle(entry, answer)
            self._incoming.ended(entry)
            waiting, self._after_reply = self._after_reply, []
            for work in waiting:
                work()
        self._start(tasks)

    # Writing

    def _settle(self, entry: Entry, answer: Message) -> None:
        if self._incoming.settle(entry) and entry.key is not None:
            self._reply(entry.key, answer)

    def _reply(self, key: int | str | None, answer: Message) -> None:
        try:
            self.outbound.put({"jsonrpc": "2.0", "id": key, **answer})
        except (TypeError, ValueError) as error:
            dispatch.log_bug("encoding a reply", error)
            sentence = "agent-ls made an answer that cannot be sent. `agent-ls log` has the details."
            self.outbound.put({"jsonrpc": "2.0", "id": key, **dispatch.failure(dispatch.INTERNAL_ERROR, sentence)})

    async def _write(self, tasks: TaskGroup) -> None:
        try:
            while (data := await self.outbound.get()) is not None:
                await self._stream.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._ended = "the client is gone"
            tasks.cancel_scope.cancel()

    async def _watch_end(self, tasks: TaskGroup) -> None:
        await self._ending.wait()
        with anyio.move_on_after(GRACE_S):
            await self.outbound.drained()
        tasks.cancel_scope.cancel()

    async def _watch_overflow(self, tasks: TaskGroup) -> None:
        await self.outbound.overflowed.wait()
        self._ended = "the client asks and does not read"
        log.warning("connection %d: %s", self.number, self._ended)
        tasks.cancel_scope.cancel()


_CANCELLED = dispatch.failure(CANCELLED, "The request was cancelled.")
_TOO_MANY = {"code": "queue_full", "message": "Too many requests wait.", "hint": "Wait for answers.", "retryable": True}


def _key(value: Any) -> int | str | None:
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None
