"""Runs as work-done progress, for editors that have no view of ours: one for each run (or compaction that no run
waits for), cancelled by interrupting it.

Owns which window shows which run, and that each progress which began also ends. Does not own the interrupt (features).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agent_ls.core.compacting import home
from agent_ls.core.conversation import SUBAGENT, Conversation
from agent_ls.core.display import one_line
from agent_ls.core.events import Event
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Request
from agent_ls.core.run import Run
from agent_ls.editor.book import Answered
from agent_ls.editor.given import pick
from agent_ls.editor.surface.board import Viewer
from agent_ls.runtime.supervisor import Supervisor

CREATE_S: Final = 10.0
PREFIX: Final = "agent-ls/"
AND: Final = "+"


@dataclass(eq=False)
class _Shown:
    """`work` is the run, or the run and the compaction under it. `message` is None until the client has the token."""

    work: str
    token: str
    title: str
    wanted: str
    message: str | None = None
    over: bool = False


class Progress:
    """`states` are the conversations in memory; `boot_id` keeps a token from being used by two daemons."""

    def __init__(self, supervisor: Supervisor, states: Callable[[], Iterable[ConversationState]], boot_id: str) -> None:
        self._supervisor = supervisor
        self._states = states
        self._boot = boot_id[:8]
        self._windows: dict[Viewer, dict[str, _Shown]] = {}

    def join(self, window: Viewer) -> None:
        """A window may come in the middle of a run."""
        if pick(window.capabilities, "window", "workDoneProgress") is True and "ui.approval" not in window.features:
            self._windows[window] = {}
            for state in self._states():
                if state.exists:
                    self._follow(window, state)

    def leave(self, window: Viewer) -> None:
        for shown in self._windows.pop(window, {}).values():
            shown.over = True

    def on_events(self, conversation_id: str, events: Sequence[Event]) -> None:
        """After each commit; must not wait."""
        if not self._windows or not any(isinstance(event.entity, Run | Request | Conversation) for event in events):
            return
        for state in self._states():
            if state.exists and state.conversation.id == conversation_id:
                for window in tuple(self._windows):
                    self._follow(window, state)

    def run_of(self, token: Any) -> str | None:
        """Which run a client wants to cancel."""
        begin = f"{PREFIX}{self._boot}/"
        shown = token.removeprefix(begin) if isinstance(token, str) and token.startswith(begin) else None
        return None if shown is None else shown.partition(AND)[0]

    def _follow(self, window: Viewer, state: ConversationState) -> None:
        held, work = state.conversation, _work(state)
        if held.relation == SUBAGENT or not window.sees(held.workspace):
            return
        shown = self._windows[window].get(held.id)
        if shown is not None and work != shown.work:
            shown.over = True
            del self._windows[window][held.id]
            if shown.message is not None:
                _say(window, shown.token, {"kind": "end", "message": _end(state, shown.work)})
            shown = None
        if work is None:
            return
        if shown is None:
            title = f"Agent: {one_line(held.title, 60) or 'working'}"
            shown = _Shown(work, f"{PREFIX}{self._boot}/{work}", title, _message(state))
            self._windows[window][held.id] = shown
            begun = shown
            self._supervisor.start("progress", lambda: _begin(window, begun))
        shown.wanted = _message(state)
        if shown.message not in {None, shown.wanted}:
            shown.message = shown.wanted
            _say(window, shown.token, {"kind": "report", "message": shown.wanted})


async def _begin(window: Viewer, shown: _Shown) -> None:
    outcome = await window.request("window/workDoneProgress/create", {"token": shown.token}, CREATE_S)
    if not isinstance(outcome, Answered) or shown.over:
        return
    shown.message = shown.wanted
    begin = {"kind": "begin", "title": shown.title, "cancellable": True, "message": shown.message}
    _say(window, shown.token, begin)


def _say(window: Viewer, token: str, value: dict[str, Any]) -> None:
    window.notify("$/progress", {"token": token, "value": value})


def _work(state: ConversationState) -> str | None:
    """Where no run goes on, a compaction that the person wants: shown, and cancelled, under the newest run."""
    wish = state.conversation.compacting
    if state.active is not None or wish is None:
        return None if state.active is None else state.active.id
    return f"{home(state)}{AND}{wish.id}"


def _message(state: ConversationState) -> str:
    if state.active is None:
        return "making room"
    if state.active.interrupt is not None:
        return "stopping"
    numbers = sorted(request.number for request in state.pending.values())
    return "waits for your answer: " + ", ".join(f"#{number}" for number in numbers) if numbers else "working"


def _end(state: ConversationState, work: str) -> str:
    run = state.runs.get(work)
    return "" if run is None else str(run.status)
