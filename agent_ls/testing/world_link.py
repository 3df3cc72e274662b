"""The line between a virtual editor and a virtual daemon: messages with a latency, in order, until one end is gone.

Owns what may be lost (whatever was under way when an end went) and what may not (order on one line). A command may
arrive twice or late.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Protocol

from agent_ls.core.errors import Refusal
from agent_ls.core.events import Event
from agent_ls.testing.world_fate import Fate
from agent_ls.testing.world_loop import Process

Answer = Mapping[str, Any] | Refusal


@dataclass(frozen=True, kw_only=True)
class Command:
    """`kind`: create, send, queue, interrupt, respond or attach; `given` its parameters."""

    id: str
    kind: str
    conversation_id: str
    given: Mapping[str, Any] = field(default_factory=dict)


class Daemonish(Protocol):
    process: Process

    def take(self, link: "Link", command: Command) -> None: ...

    def lost(self, link: "Link") -> None: ...


@dataclass(frozen=True)
class News:
    """`moved`: something was written before it that this daemon did not hear of."""

    conversation_id: str
    events: Sequence[Event]
    _: KW_ONLY
    moved: bool


@dataclass
class Following:
    """`held`: events kept back until the attach is answered; None once they flow."""

    held: list[Event] | None = field(default_factory=list)


class Link:
    """Calls of an editor go to `daemon`; what comes back goes through one queue into the editor's process.

    `moved`: conversations that are followed here, and to which something was written that this daemon did not hear of.
    """

    def __init__(self, daemon: Daemonish, editor: Process, fate: Fate) -> None:
        self.daemon = daemon
        self.editor = editor
        self.closed = False
        self.following: dict[str, Following] = {}
        self.moved: set[str] = set()
        self.on_answer: Callable[[Command, Answer], None] = lambda _, __: None
        self.on_news: Callable[[News], None] = lambda _: None
        self.on_closed: Callable[[], None] = lambda: None
        self._fate = fate
        self._back: deque[Callable[[], None]] = deque()

    def send(self, command: Command) -> None:
        """Once; or twice, as a client does that did not hear."""
        times = 2 if command.kind != "attach" and self._fate.strikes(self._fate.odds.duplicate) else 1
        for _ in range(times):
            self.daemon.process.later(self._fate.latency(), lambda: self._arrive(command))

    def answer(self, command: Command, answer: Answer) -> None:
        self._push(lambda: self.on_answer(command, answer))

    def on_events(self, conversation_id: str, events: Sequence[Event]) -> None:
        following = self.following.get(conversation_id)
        if following is None:
            return
        if following.held is not None:
            following.held += events
            return
        self._tell(conversation_id, events)

    def on_stream(self, conversation_id: str, update: Any) -> None:
        """Text in flight is display only."""

    def follow(self, conversation_id: str) -> None:
        self.following[conversation_id] = Following()
        self.moved.discard(conversation_id)

    def release(self, conversation_id: str, seq: int, missed: Sequence[Event]) -> None:
        """After the answer: what was missed, then what was kept back and is news."""
        following = self.following.get(conversation_id)
        if following is None or following.held is None:
            return
        last = missed[-1].seq if missed else seq
        events, following.held = [*missed, *(e for e in following.held if e.seq > last)], None
        if events:
            self._tell(conversation_id, events)

    def close(self) -> None:
        """One end is gone: the other notices after a moment."""
        if self.closed:
            return
        self.closed = True
        self.daemon.process.later(0.01, lambda: self.daemon.lost(self))
        self.editor.later(0.01, self.on_closed)

    def _arrive(self, command: Command) -> None:
        if not self.closed:
            self.daemon.take(self, command)

    def _tell(self, conversation_id: str, events: Sequence[Event]) -> None:
        # Another attach may be on its way before the editor hears of it, and begins anew.
        news = News(conversation_id, events, moved=conversation_id in self.moved)
        self._push(lambda: self.on_news(news))

    def _push(self, message: Callable[[], None]) -> None:
        self._back.append(message)
        self.editor.later(self._fate.latency(), self._pop)

    def _pop(self) -> None:
        message = self._back.popleft()
        if not self.closed:
            message()
