"""Marks are said again once somebody has typed in their file: a multiplexer has dropped them with the text before.

Programs that make one server of several (docs/emacs.md) gather what all of them say of each version of a text, and what
was said of an older one is gone. Editors that talk to us alone lose nothing by hearing it twice. Owns when; what stands
where is the board's.
"""

from typing import Final

from agent_ls.editor.surface.board import Board, Viewer
from agent_ls.ports.host import Clock
from agent_ls.runtime.supervisor import Supervisor

QUIET_S: Final = 0.3
"""Not at every key; such a program waits a second for those that have said nothing of the newest text."""


class Redrawing:
    def __init__(self, board: Board, supervisor: Supervisor, clock: Clock) -> None:
        self._board = board
        self._supervisor = supervisor
        self._clock = clock
        self._due: set[tuple[Viewer, str]] = set()

    def typed(self, window: Viewer, uri: str) -> None:
        """Must not wait. Costs nothing where nothing stands."""
        if (window, uri) in self._due or not self._board.drawn(window, uri):
            return
        if self._supervisor.start("marks", lambda: self._again(window, uri)):
            self._due.add((window, uri))

    async def _again(self, window: Viewer, uri: str) -> None:
        try:
            await self._clock.sleep(QUIET_S)
        finally:
            self._due.discard((window, uri))
        self._board.draw_again(window, uri)
