"""What waits for a person, daemon-wide, and who is told of it.

Owns the pending requests as windows show them and the summaries of conversations that changed. A window that joins
late is told from this state, not from old events.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from agent_ls.core.conversation import SUBAGENT, Conversation, ConversationStatus
from agent_ls.core.events import Event
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Request
from agent_ls.editor.focus import Focus
from agent_ls.editor.surface.board import Board, Viewer
from agent_ls.ports.ledger import Summary
from agent_ls.wire import views
from agent_ls.wire.encode import to_wire

StateOf = Callable[[str], ConversationState | None]


class Told(Viewer, Protocol):
    """A window, as far as the inbox needs to know it."""

    folders: tuple[str, ...]


class Inbox:
    """`state_of` gives a conversation that is in memory, as every one that changes is; `on_asked` hears what is new,
    `on_deleted` which conversation is gone."""

    def __init__(self, state_of: StateOf, board: Board, focus: Focus) -> None:
        self.focus = focus
        self.on_asked: Callable[[Sequence[Request], Conversation], None] = lambda requests, conversation: None
        self.on_deleted: Callable[[str], None] = lambda conversation_id: None
        self._state_of = state_of
        self._board = board
        self._windows: list[Told] = []
        self._pending: dict[str, Request] = {}
        self._workspaces: dict[str, str] = {}
        self._shown: dict[str, dict[str, Any]] = {}

    def load(self, pending: Sequence[tuple[Request, Conversation]]) -> None:
        """What waited already when the daemon started."""
        for request, conversation in pending:
            self._pending[request.id] = request
            self._workspaces[request.conversation_id] = conversation.workspace

    @property
    def windows(self) -> Sequence[Told]:
        return self._windows

    @property
    def pending(self) -> int:
        return len(self._pending)

    def join(self, window: Told) -> None:
        self._windows.append(window)

    def leave(self, window: Told) -> None:
        if window in self._windows:
            self._windows.remove(window)
            self._board.leave(window)

    def tell(self, window: Told) -> None:
        """The count of the whole daemon, and the requests that this window should show."""
        shown = [r for r in self._pending.values() if window.sees(self._workspaces.get(r.conversation_id, ""))]
        shown.sort(key=lambda request: request.number)
        window.notify("agent/request/changed", {"pending": len(self._pending), "requests": [to_wire(r) for r in shown]})
        self._board.show(window, [(r, self._workspaces.get(r.conversation_id, "")) for r in shown])

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
            for window in tuple(self._windows):
                if window.sees(state.conversation.workspace):
                    self.tell(window)
        if fresh:
            self.on_asked(fresh, state.conversation)
        self._changed(state)

    def watched(self) -> bool:
        """Whether the person looks at any window."""
        return any(self.focus.has(window) for window in self._windows)

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
        status = views.conversation_status(
            active_run=summary.active_run,
            queued=summary.queued_runs,
            pending=summary.pending_requests,
            stopping=summary.stopping,
        )
        self._show(held, status, pending=summary.pending_requests, last_text=summary.last_text)

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
