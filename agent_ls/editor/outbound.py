"""What waits to be written to one connection: bounded, so that a window that does not read slows nobody else.

Owns the order of what is sent and what is given up when a window is too slow. Does not own the socket (connection)
nor subscriptions: whoever feeds a conversation is told by `on_cut` that its window has to attach again.

Nobody who puts something in ever waits. Over the limit, in this order:

1. Stream frames are dropped. They are display only, the committed item supersedes them.
2. The conversation with most queued events is cut: all its queued events go, later ones are not taken, and its
   feed is told. Events are never skipped silently.
3. What is left (answers, requests, notices) is never skipped. Past twice the limit `overflowed` is set, and the
   connection ends: such a window asks and does not read.

Either way the window is told once by `agent/resync` when the queue has drained.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from agent_ls.bridge.frames import frame
from agent_ls.editor.framing import Message, encode

MOST_MESSAGES = 2_000
MOST_BYTES = 8 * 1024 * 1024
# One long answer (an export, a page of items) makes no slow window: it counts as this much.
MOST_COUNTED = 1024 * 1024
BATCH = 64 * 1024
OVERHEAD = 256  # bytes of a stream frame besides its texts


def merge_stream(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """One frame that says what two did: deltas joined, `cursor` and the rest of the later one; `text` replaces."""
    merged = {**old, **new}
    for field in ("delta", "output"):
        if isinstance(old.get(field), str) and isinstance(new.get(field), str):
            merged[field] = old[field] + new[field]
    if "text" in new:
        merged.pop("delta", None)
        if "delta" in new:
            merged["delta"] = new["delta"]
    elif "text" in old and isinstance(new.get("delta"), str):
        merged["text"] = old["text"] + new["delta"]
        merged.pop("delta", None)
    return merged


@dataclass
class _Entry:
    """`data` is the frame; a stream frame is kept as `params` until it is sent, because it may grow."""

    size: int
    data: bytes | None = None
    params: dict[str, Any] | None = None
    conversation: str | None = None  # for what may be given up together with its conversation


class Outbound:
    """`offer` may be set to what takes bytes at once, without waiting, and says how many it took."""

    def __init__(
        self,
        *,
        most_messages: int = MOST_MESSAGES,
        most_bytes: int = MOST_BYTES,
        on_cut: Callable[[str], None] | None = None,
    ) -> None:
        self.overflowed = anyio.Event()
        self.on_cut = on_cut
        self.offer: Callable[[bytes], int] | None = None
        self._most_messages = most_messages
        self._most_bytes = most_bytes
        self._entries: dict[int, _Entry] = {}  # in order of insertion
        self._next = 0
        self._size = 0
        self._streams: dict[tuple[str, str], int] = {}
        self._cut: set[str] = set()
        self._resync: dict[str, None] = {}  # a set that keeps its order
        self._changed = anyio.Event()
        self._writer_waits = False
        self._drained = anyio.Event()
        self._closed = False

    @property
    def size(self) -> tuple[int, int]:
        """(messages, bytes) that wait."""
        return len(self._entries), self._size

    def put(self, message: Message) -> None:
        """Take any message. `agent/stream` and `agent/event` are known by their method, the rest is never given up."""
        if self._closed:
            return
        method, params = message.get("method"), message.get("params")
        conversation = params.get("conversationId") if isinstance(params, dict) else None
        if "id" in message or not isinstance(conversation, str):
            self._append(_sized(encode(message)))
        elif method == "agent/stream":
            self._stream(conversation, params or {})
        elif method == "agent/event":
            if conversation not in self._cut:
                self._append(_sized(encode(message), conversation))
        else:
            self._append(_sized(encode(message)))
        self._shrink()

    def put_events(self, conversation: str, events: Sequence[bytes]) -> None:
        """`agent/event` with events that are JSON already: made once, sent to every window."""
        if self._closed or conversation in self._cut:
            return
        head = b'{"jsonrpc":"2.0","method":"agent/event","params":{"conversationId":%s,"events":['
        data = frame(head % json.dumps(conversation).encode() + b",".join(events) + b"]}}")
        taken = self._offered(data)
        if taken == len(data):
            return
        # Half a message has to be followed by its other half, whatever else is given up.
        self._append(_sized(data[taken:], None if taken else conversation))
        self._shrink()

    def attached(self, conversation: str) -> None:
        """The window has a fresh picture of this conversation: it is fed again, and no resync is owed."""
        self._cut.discard(conversation)
        self._resync.pop(conversation, None)

    def cut(self, conversation: str) -> None:
        """The window missed something of this conversation: it is told to attach again."""
        self._cut_off(conversation)
        self._changed.set()

    async def get(self) -> bytes | None:
        """The next bytes to write, several small messages at once; None when closed and empty."""
        while not self._entries:
            if self._resync:
                self._tell_resync()
                break
            self._drained.set()
            if self._closed:
                return None
            self._changed = anyio.Event()
            self._writer_waits = True
            try:
                await self._changed.wait()
            finally:
                self._writer_waits = False
        taken: list[bytes] = []
        length = 0
        while self._entries and length < BATCH:
            data = self._pop()
            taken.append(data)
            length += len(data)
        return b"".join(taken)

    async def drained(self) -> None:
        """Wait until everything put in so far was taken and written (the writer came back for more)."""
        if self._drained.is_set():
            self._drained = anyio.Event()
        self._changed.set()
        await self._drained.wait()

    def close(self) -> None:
        """Take nothing more. What waits can still be taken out."""
        self._closed = True
        self._changed.set()

    def _offered(self, data: bytes) -> int:
        """How many bytes are out already: what a person waits for goes out at once where nothing stands before it."""
        if self.offer is None or not self._writer_waits or self._entries or self._resync:
            return 0
        return self.offer(data)

    def _append(self, entry: _Entry) -> int:
        key, self._next = self._next, self._next + 1
        self._entries[key] = entry
        self._size += entry.size
        self._changed.set()
        return key

    def _stream(self, conversation: str, params: dict[str, Any]) -> None:
        if conversation in self._resync:
            return  # the window has a hole already and is going to attach again
        item = conversation, str(params.get("itemId"))
        waiting = self._entries.get(self._streams.get(item, -1))
        if waiting is None:
            self._streams[item] = self._append(
                _Entry(_text_size(params), params=dict(params), conversation=conversation)
            )
            return
        assert waiting.params is not None
        waiting.params = merge_stream(waiting.params, params)
        size = _text_size(waiting.params)
        self._size += size - waiting.size
        waiting.size = size

    def _pop(self) -> bytes:
        key = next(iter(self._entries))
        entry = self._remove(key)
        if entry.params is None:
            assert entry.data is not None
            return entry.data
        return encode({"jsonrpc": "2.0", "method": "agent/stream", "params": entry.params})

    def _remove(self, key: int) -> _Entry:
        entry = self._entries.pop(key)
        self._size -= entry.size
        if entry.params is not None and entry.conversation is not None:
            self._streams.pop((entry.conversation, str(entry.params.get("itemId"))), None)
        return entry

    def _over(self, times: int = 1) -> bool:
        return len(self._entries) > times * self._most_messages or self._size > times * self._most_bytes

    def _shrink(self) -> None:
        if not self._over():
            return
        for (streaming, _), key in list(self._streams.items()):
            self._remove(key)
            self._resync[streaming] = None
        while self._over() and (conversation := self._largest()):
            self._cut_off(conversation)
        if self._over(2):
            self.overflowed.set()

    def _largest(self) -> str | None:
        sizes: dict[str, int] = {}
        for entry in self._entries.values():
            if entry.conversation is not None:
                sizes[entry.conversation] = sizes.get(entry.conversation, 0) + entry.size
        return max(sizes, key=lambda conversation: sizes[conversation]) if sizes else None

    def _cut_off(self, conversation: str) -> None:
        for key in [key for key, entry in self._entries.items() if entry.conversation == conversation]:
            self._remove(key)
        self._cut.add(conversation)
        self._resync[conversation] = None
        if self.on_cut:
            self.on_cut(conversation)

    def _tell_resync(self) -> None:
        for conversation in self._resync:
            params = {"conversationId": conversation}
            self._append(_sized(encode({"jsonrpc": "2.0", "method": "agent/resync", "params": params})))
        self._resync.clear()
        self._cut.clear()


def _sized(data: bytes, conversation: str | None = None) -> _Entry:
    return _Entry(min(len(data), MOST_COUNTED), data=data, conversation=conversation)


def _text_size(params: Mapping[str, Any]) -> int:
    """About what the frame will take: encoding it at every delta would cost more than it is worth."""
    return OVERHEAD + sum(len(value) for value in params.values() if isinstance(value, str))
