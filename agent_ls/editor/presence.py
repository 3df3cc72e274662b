"""Who else has a conversation open: the windows that follow it, with what they call themselves.

Owns that those who follow one are told when another window comes or goes, or the person moves between them. Does not
own following (window) nor what is shown where (inbox).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from agent_ls.editor.focus import Focus


class Present(Protocol):
    """A window, as far as the others need to know it. `window_id` is its own name of itself, if it has one.

    `process_id` is its editor's: some have a link for each of their projects.
    """

    number: int
    client: str
    window_id: str | None
    process_id: int | None

    def follows(self, conversation_id: str) -> bool: ...

    def notify(self, method: str, params: Mapping[str, Any]) -> None: ...


class Presence:
    """`windows` is the list of all that there are, as it stands at any time."""

    def __init__(self, windows: Sequence[Present], focus: Focus) -> None:
        self._windows = windows
        self._focus = focus
        self._told: dict[str, list[dict[str, Any]]] = {}

    def of(self, conversation_id: str) -> list[dict[str, Any]]:
        return [self._view(window) for window in self._windows if window.follows(conversation_id)]

    def changed(self, conversation_id: str) -> None:
        """A window that is alone and was before is told nothing: it knows."""
        now = self.of(conversation_id)
        before = self._told.get(conversation_id, now[:1])
        if now:
            self._told[conversation_id] = now
        else:
            self._told.pop(conversation_id, None)
        if now == before or max(len(now), len(before)) < 2:
            return
        for window in self._windows:
            if window.follows(conversation_id):
                window.notify("agent/conversation/windows", {"conversationId": conversation_id, "windows": now})

    def moved(self) -> None:
        """The person is in another window than before, or in none."""
        for conversation_id in tuple(self._told):
            self.changed(conversation_id)

    def _view(self, window: Present) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "number": window.number,
            "client": window.client,
            "focused": self._focus.told_of(window),
        }
        return shown if window.window_id is None else {**shown, "windowId": window.window_id}
