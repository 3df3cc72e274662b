"""What waits for a person, daemon-wide, and who is told of it.

Owns the pending requests as windows show them, which window shows which, and the summaries of conversations that
changed. A window that joins late is told from this state, not from old events.

A request is shown in the window whose folder holds its workspace and where the person was last, and in those that
follow its conversation; the others are told how many wait. While no window has said where the person is, all show it.
What lies in the text of a file (surface.board) stands in every window that has it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Protocol
from weakref import WeakKeyDictionary

from agent_ls.core.conversation import SUBAGENT, Conversation, ConversationStatus
from agent_ls.core.display import one_line
from agent_ls.core.events import Event
from agent_ls.core.locks import Lock
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import DONE, Decision, Request
from agent_ls.editor.focus import Focus
from agent_ls.editor.presence import Presence, Present
from agent_ls.editor.surface.board import Board, Viewer
from agent_ls.ports.ledger import Summary
from agent_ls.wire import views
from agent_ls.wire.encode import to_wire

INFO: Final = 3
TITLE: Final = 60

StateOf = Callable[[str], ConversationState | None]


class ToldWindow(Viewer, Present, Protocol):
    """A window, as far as the inbox needs to know it."""

    folders: tuple[str, ...]


class Inbox:
    """`state_of` gives a conversation that is in memory, as every one that changes is; `on_asked` hears what is new,
    `on_deleted` which conversation is gone, `on_told` what each window is told, `on_left` which one is gone."""

    def __init__(self, state_of: StateOf, board: Board, focus: Focus) -> None:
        self.focus = focus
        self.on_asked: Callable[[Sequence[Request], Conversation], None] = lambda requests, conversation: None
        self.on_told: Callable[[ToldWindow, Sequence[Request]], None] = lambda window, requests: None
        self.on_left: Callable[[ToldWindow], None] = lambda window: None
        self.on_deleted: Callable[[str], None] = lambda conversation_id: None
        self._state_of = state_of
        self._board = board
        self._windows: list[ToldWindow] = []
        self._answering: dict[str, ToldWindow] = {}
        self._routed: WeakKeyDictionary[ToldWindow, set[str]] = WeakKeyDictionary()
        self.presence = Presence(self._windows, focus)
        focus.moved, focus.turned = self._route, self.presence.moved
        self._pending: dict[str, Request] = {}
        self._workspaces: dict[str, str] = {}
        self._shown: dict[str, dict[str, Any]] = {}

    def load(self, pending: Sequence[tuple[Request, Conversation]]) -> None:
        """What waited already when the daemon started."""
        for request, conversation in pending:
            self._pending[request.id] = request
            self._workspaces[request.conversation_id] = conversation.workspace

    @property
    def windows(self) -> Sequence[ToldWindow]:
        return self._windows

    @property
    def pending(self) -> int:
        return len(self._pending)

    def join(self, window: ToldWindow) -> None:
        self._windows.append(window)

    def leave(self, window: ToldWindow) -> None:
        if window in self._windows:
            self._windows.remove(window)
            self._board.leave(window)
            self._route()
            self.on_left(window)

    def tell(self, window: ToldWindow) -> None:
        """The count of the whole daemon, and the requests that this window should show."""
        seen = [r for r in self._pending.values() if window.sees(self.workspace_of(r.conversation_id))]
        seen.sort(key=lambda request: request.number)
        shown = [request for request in seen if self._shows(window, request)]
        self._routed[window] = {request.id for request in shown}
        window.notify("agent/request/changed", {"pending": len(self._pending), "requests": [to_wire(r) for r in shown]})
        self._board.show(window, [(request, self.workspace_of(request.conversation_id)) for request in seen])
        self.on_told(window, shown)

    def follow(self, window: ToldWindow, conversation_id: str) -> None:
        """The window follows this conversation from now on, or does no more."""
        self.presence.changed(conversation_id)
        if any(request.is_of(conversation_id) for request in self._pending.values()):
            self._route()

    def answers(self, request_id: str, window: ToldWindow) -> None:
        """An answer of this window is on its way: if it counts, the others are told and this one knows."""
        if request_id in self._pending:
            self._answering[request_id] = window

    def on_events(self, conversation_id: str, events: Sequence[Event]) -> None:
        """After each commit of any conversation."""
        state = self._state_of(conversation_id)
        if state is None:
            return
        self._workspaces[conversation_id] = state.conversation.workspace
        asked = [event.entity for event in events if isinstance(event.entity, Request)]
        fresh = [request for request in asked if request.pending and request.id not in self._pending]
        for request in asked:
            self._pending.pop(request.id, None)
            if request.pending:
                self._pending[request.id] = request
        if asked:
            concerned = [window for window in self._windows if window.sees(state.conversation.workspace)]
            self._tell_who(concerned, [request for request in asked if request.decided_at is not None])
            for window in concerned:
                self.tell(window)
        for request in asked:
            if not request.pending:
                self._answering.pop(request.id, None)
        if fresh:
            self.on_asked(fresh, state.conversation)
        self._changed(state)

    def hold(self, window: ToldWindow, locks: Sequence[Lock]) -> None:
        """What calls hold just now of what the window sees."""
        held = {}
        for lock in locks:
            state = self._state_of(lock.conversation_id)
            title = "" if state is None else one_line(state.conversation.title, TITLE)
            held[lock.key] = "The agent is changing this just now" + (f": {title}" if title else "")
        self._board.hold(window, held)

    def watched(self) -> bool:
        """Whether the person looks at any window."""
        return any(self.focus.has(window) for window in self._windows)

    def pending_of(self, conversation_id: str) -> list[Request]:
        """What it waits for, and its subagents, by number."""
        found = [request for request in self._pending.values() if request.is_of(conversation_id)]
        return sorted(found, key=lambda request: request.number)

    def waits(self, request_id: str) -> bool:
        return request_id in self._pending

    def workspace_of(self, conversation_id: str) -> str:
        return self._workspaces.get(conversation_id, "")

    def knows(self, conversation_id: str) -> bool:
        return conversation_id in self._workspaces

    def heard(self, summary: Summary, requests: Sequence[Request]) -> None:
        """How a conversation that another daemon writes stands now."""
        held = summary.conversation
        self._workspaces[held.id] = held.workspace
        before = {r.id: r for r in self._pending.values() if r.conversation_id == held.id}
        now = {request.id: request for request in requests}
        if before != now:
            self._pending = {known: r for known, r in self._pending.items() if known not in before} | now
            for window in tuple(self._windows):
                if window.sees(held.workspace):
                    self.tell(window)
        self._show(held, summary.status, pending=summary.pending_requests, last_text=summary.last_text)

    def deleted(self, conversation_id: str) -> None:
        self.on_deleted(conversation_id)
        self._shown.pop(conversation_id, None)
        workspace = self._workspaces.pop(conversation_id, "")
        gone = [r.id for r in self._pending.values() if r.conversation_id == conversation_id]
        for request_id in gone:
            del self._pending[request_id]
        for window in tuple(self._windows):
            if window.sees(workspace):
                window.notify("agent/conversation/changed", {"conversations": [], "deleted": [conversation_id]})

    def _tell_who(self, windows: Iterable[ToldWindow], answered: Sequence[Request]) -> None:
        """Who was first, to all others; in words only where a card goes away without any, and once in an editor."""
        for request in answered:
            first = self._answering.pop(request.id, None)
            told = {None if first is None else first.process_id}
            for window in windows:
                if window is first:
                    continue
                window.notify("agent/request/answered", {"requests": [to_wire(request)]})
                speaks = window.process_id is None or window.process_id not in told
                if speaks and not window.features and self._board.has(window, request.id):
                    told.add(window.process_id)
                    window.notify("window/showMessage", {"type": INFO, "message": verdict(request)})

    def _shows(self, window: ToldWindow, request: Request) -> bool:
        if any(window.follows(known) for known in _above(request)):
            return True
        workspace = self.workspace_of(request.conversation_id)
        last = self.focus.last(other for other in self._windows if other.sees(workspace))
        return last is None or last is window

    def _route(self) -> None:
        """Whoever is to show something else than before is told."""
        if not self._pending:
            return
        for window in tuple(self._windows):
            seen = (r for r in self._pending.values() if window.sees(self.workspace_of(r.conversation_id)))
            if {r.id for r in seen if self._shows(window, r)} != self._routed.get(window, set()):
                self.tell(window)

    def _changed(self, state: ConversationState) -> None:
        self._show(state.conversation, state.status(), pending=len(state.pending), last_text=state.last_text[:200])

    def _show(self, held: Conversation, status: ConversationStatus, *, pending: int, last_text: str) -> None:
        if held.relation == SUBAGENT:
            return  # its parent shows how it stands
        summary = views.summary(held, status, pending_requests=pending, last_text=last_text)
        told = {name: value for name, value in summary.items() if name != "updatedAt"}
        if self._shown.get(held.id) == told:
            return
        self._shown[held.id] = told
        for window in tuple(self._windows):
            if window.sees(held.workspace):
                window.notify("agent/conversation/changed", {"conversations": [summary]})


def _above(request: Request) -> tuple[str, ...]:
    """Its conversation, and those above it if a subagent asks."""
    return (request.conversation_id, *(request.origin.conversation_ids if request.origin is not None else ()))


def verdict(request: Request) -> str:
    """Short: a message of two lines would wait for a key in some editors."""
    said = "stopped" if request.decision is Decision.CANCEL else DONE[request.decision or Decision.ANSWER]
    return f"#{request.number} was {said} in {one_line(request.decided_from or 'another window', 30)}."
