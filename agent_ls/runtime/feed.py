"""The feed: committed events in order, and text in flight, to whoever is attached.

Owns subscriptions and the text that a window sees before it is committed. Text in flight lives in memory only; at most
one frame an item every 33 ms goes to a subscriber, and once a second a copy is kept for display after a crash.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Final, Protocol

import anyio

from agent_ls.core.events import Event
from agent_ls.core.items import Item, ItemStatus
from agent_ls.core.stream import Phase, Stream
from agent_ls.ports.host import Clock

FRAME_S: Final = 0.033
PARTIAL_S: Final = 1.0
OUTPUT_TAIL: Final = 64 * 1024


@dataclass(frozen=True)
class StreamUpdate:
    """One coalesced frame: `cursor` is the length of the text after `delta`. `whole`: it replaces all before it."""

    item_id: str
    cursor: int
    delta: str
    _: KW_ONLY
    phase: Phase
    is_output: bool
    whole: bool = False


class Subscriber(Protocol):
    """A window. Both must return at once: a slow window has its own queue."""

    def on_events(self, conversation_id: str, events: Sequence[Event]) -> None: ...

    def on_stream(self, conversation_id: str, update: StreamUpdate) -> None: ...


Listener = Callable[[str, Sequence[Event]], None]
KeepPartial = Callable[[str, str, str], None]


@dataclass
class _Buffer:
    phase: Phase
    _: KW_ONLY
    is_output: bool
    chunks: list[str] = field(default_factory=list)
    size: int = 0
    unsent: list[str] = field(default_factory=list)
    unkept: bool = False
    foreign: bool = False
    unseen: bool = False

    def add(self, text: str) -> None:
        self.chunks.append(text)
        self.unsent.append(text)
        self.size += len(text)
        self.unkept = True
        if self.is_output and len(self.chunks) > 256:
            self.chunks = [self.text()[-OUTPUT_TAIL:]]

    def text(self) -> str:
        if len(self.chunks) > 1:
            self.chunks = ["".join(self.chunks)]
        return self.chunks[0] if self.chunks else ""


class Feed:
    def __init__(self, clock: Clock, keep_partial: KeepPartial) -> None:
        self._clock = clock
        self._keep_partial = keep_partial
        self._subscribers: dict[str, list[Subscriber]] = {}
        self._buffers: dict[str, dict[str, _Buffer]] = {}
        self._dirty: dict[tuple[str, str], None] = {}
        self._wake = anyio.Event()
        self.listeners: list[Listener] = []
        self.may_send: Callable[[], bool] = lambda: True
        self._kept: set[str] = set()
        self._muted: set[str] = set()
        self._foreign: set[tuple[str, str]] = set()

    def go_on(self) -> None:
        """Text in flight may be sent again (`may_send`)."""
        self._wake.set()

    def subscribe(self, conversation_id: str, subscriber: Subscriber) -> None:
        found = self._subscribers.setdefault(conversation_id, [])
        if subscriber not in found:
            found.append(subscriber)

    def unsubscribe(self, conversation_id: str, subscriber: Subscriber) -> None:
        found = self._subscribers.get(conversation_id, [])
        if subscriber in found:
            found.remove(subscriber)
        if not found:
            self._subscribers.pop(conversation_id, None)

    def attached(self, conversation_id: str) -> int:
        return len(self._subscribers.get(conversation_id, ()))

    def publish(self, conversation_id: str, events: Sequence[Event]) -> None:
        """After the commit. A committed item takes the place of its text in flight."""
        settled = [
            e.entity.id for e in events if isinstance(e.entity, Item) and e.entity.status is not ItemStatus.RUNNING
        ]
        self.clear(conversation_id, settled)
        self._foreign -= {(conversation_id, item_id) for item_id in settled}
        for subscriber in tuple(self._subscribers.get(conversation_id, ())):
            subscriber.on_events(conversation_id, events)
        for listener in tuple(self.listeners):
            listener(conversation_id, events)

    def text(self, conversation_id: str, item_id: str, delta: str, *, phase: Phase) -> None:
        """Text of an answer in flight."""
        self._add(conversation_id, item_id, delta, phase=phase, is_output=False)

    def show(self, conversation_id: str, texts: Mapping[str, str]) -> None:
        """Text in flight at another daemon, all of it that is known here: what is not there any more is dropped."""
        buffers = self._buffers.setdefault(conversation_id, {})
        self.clear(conversation_id, [item_id for item_id in buffers if item_id not in texts])
        for item_id, text in texts.items():
            known = buffers.get(item_id)
            if known is None or not text.startswith(known.text()):
                known = _Buffer(Phase.ANSWERING, is_output=False, foreign=True, unseen=True)
                self._buffers.setdefault(conversation_id, {})[item_id] = known
                self._foreign.add((conversation_id, item_id))
            if more := text[known.size :]:
                known.add(more)
                self._dirty[conversation_id, item_id] = None
                self._wake.set()

    def output(self, conversation_id: str, item_id: str, delta: str) -> None:
        """Output of a tool that runs."""
        self._add(conversation_id, item_id, delta, phase=Phase.TOOL, is_output=True)

    def phase(self, conversation_id: str, item_id: str, phase: Phase) -> None:
        """What goes on at an item that has no text in flight."""
        if conversation_id in self._muted or item_id in self._buffers.get(conversation_id, {}):
            return
        self._buffers.setdefault(conversation_id, {})[item_id] = _Buffer(phase, is_output=False)
        self._dirty[conversation_id, item_id] = None
        self._wake.set()

    def streams(self, conversation_id: str) -> list[Stream]:
        """What a window that attaches now sees of text in flight."""
        found = []
        for item_id, buffer in self._buffers.get(conversation_id, {}).items():
            # What was not sent yet goes out with the next frame, so the cursor stands before it.
            unsent = sum(map(len, buffer.unsent))
            text = buffer.text()
            sent = text[: max(0, len(text) - unsent)]
            shown = Stream(
                item_id=item_id,
                cursor=buffer.size - unsent,
                text="" if buffer.is_output else sent,
                output=sent if buffer.is_output else None,
                phase=buffer.phase,
            )
            found.append(shown)
        return found

    def said(self, conversation_id: str, item_id: str) -> str:
        buffer = self._buffers.get(conversation_id, {}).get(item_id)
        return buffer.text() if buffer else ""

    def clear(self, conversation_id: str, item_ids: Iterable[str]) -> None:
        buffers = self._buffers.get(conversation_id)
        if not buffers:
            return
        for item_id in item_ids:
            buffers.pop(item_id, None)
            self._dirty.pop((conversation_id, item_id), None)
        if not buffers:
            self._buffers.pop(conversation_id, None)

    def clear_all(self, conversation_id: str) -> bool:
        """Forgets all text in flight; whether a copy of some of it was kept, which is then to be dropped."""
        self.clear(conversation_id, list(self._buffers.get(conversation_id, ())))
        kept = conversation_id in self._kept
        self._kept.discard(conversation_id)
        return kept

    def mute(self, conversation_id: str) -> None:
        """What is said from now on is not this daemon's to tell, and what was said and not sent is forgotten."""
        self._muted.add(conversation_id)
        self.clear_all(conversation_id)

    def unmute(self, conversation_id: str) -> None:
        self._muted.discard(conversation_id)

    async def pump(self) -> None:
        """Sends what has gathered; runs for the life of the daemon."""
        kept_at = self._clock.monotonic()
        unkept = False
        while True:
            if not unkept:
                await self._wake.wait()
            self._wake = anyio.Event()
            if not self.may_send():
                # Whether it is still ours to say is found out first; `go_on` comes then.
                unkept = False
                continue
            self._flush()
            unkept = True
            if self._clock.monotonic() - kept_at >= PARTIAL_S:
                kept_at = self._clock.monotonic()
                self._keep()
                unkept = False
            await self._clock.sleep(FRAME_S)

    def _add(self, conversation_id: str, item_id: str, delta: str, *, phase: Phase, is_output: bool) -> None:
        if not delta or conversation_id in self._muted:
            return
        buffers = self._buffers.setdefault(conversation_id, {})
        buffer = buffers.get(item_id)
        if buffer is None or buffer.foreign:
            # A model that is asked again here begins anew: what was shown of the other daemon's is replaced.
            anew = (conversation_id, item_id) in self._foreign
            self._foreign.discard((conversation_id, item_id))
            buffer = buffers[item_id] = _Buffer(phase, is_output=is_output, unseen=anew)
        buffer.add(delta)
        self._dirty[conversation_id, item_id] = None
        self._wake.set()

    def _flush(self) -> None:
        dirty, self._dirty = self._dirty, {}
        for conversation_id, item_id in dirty:
            buffer = self._buffers.get(conversation_id, {}).get(item_id)
            if buffer is None:
                continue
            whole, buffer.unseen = buffer.unseen, False
            delta = buffer.text() if whole else "".join(buffer.unsent)
            buffer.unsent.clear()
            update = StreamUpdate(
                item_id, buffer.size, delta, phase=buffer.phase, is_output=buffer.is_output, whole=whole
            )
            for subscriber in tuple(self._subscribers.get(conversation_id, ())):
                subscriber.on_stream(conversation_id, update)

    def _keep(self) -> None:
        for conversation_id, buffers in self._buffers.items():
            for item_id, buffer in buffers.items():
                if buffer.unkept and not (buffer.is_output or buffer.foreign) and buffer.phase is Phase.ANSWERING:
                    buffer.unkept = False
                    self._kept.add(conversation_id)
                    self._keep_partial(conversation_id, item_id, buffer.text())
