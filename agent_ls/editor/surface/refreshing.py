"""Having clients ask again for what they draw by themselves: lenses and inlay hints.

Owns that only a client is asked that has declared it, and one question at a time. Does not own what they then get.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from agent_ls.core.events import Event
from agent_ls.core.request import Request
from agent_ls.core.run import Run
from agent_ls.editor.documents import Documents
from agent_ls.editor.given import pick
from agent_ls.editor.surface.board import Viewer
from agent_ls.editor.surface.transcripts import Transcripts
from agent_ls.runtime.supervisor import Supervisor

ANSWER_S: Final = 10.0
LENSES: Final = "codeLens"
HINTS: Final = "inlayHint"


class Refreshing:
    """`windows` are those that are there now."""

    def __init__(
        self,
        supervisor: Supervisor,
        documents: Documents,
        transcripts: Transcripts,
        *,
        windows: Callable[[], Sequence[Viewer]],
    ) -> None:
        self._supervisor = supervisor
        self._documents = documents
        self._transcripts = transcripts
        self._windows = windows
        self._asked: dict[tuple[Viewer, str], bool] = {}

    def on_events(self, conversation_id: str, events: Sequence[Event]) -> None:
        """What can be done at a conversation's documents changes with its runs and requests."""
        if not any(isinstance(event.entity, Run | Request) for event in events):
            return
        # What a subagent asks is offered at the documents of the conversation that the person talks to.
        self.offers({conversation_id, *(event.entity.root_id for event in events if isinstance(event.entity, Request))})

    def offers(self, known: Collection[str]) -> None:
        """What is offered at the documents of these conversations is another now."""
        uris = [self._transcripts.uri(each, prompt=prompt) for each in known for prompt in (True, False)]
        looking = [copy.window for uri in uris for copy in self._documents.at(uri)]
        for window in self._windows():
            if any(one is window for one in looking):
                self.ask(window, LENSES)

    def ask(self, window: Viewer, what: str) -> None:
        """Must not wait. What comes while the client has not answered is asked once more, then."""
        if pick(window.capabilities, "workspace", what, "refreshSupport") is not True:
            return
        if (window, what) in self._asked:
            self._asked[window, what] = True
        else:
            self._asked[window, what] = False
            self._supervisor.start("refresh", lambda: self._ask(window, what))

    async def _ask(self, window: Viewer, what: str) -> None:
        try:
            again = True
            while again:
                self._asked[window, what] = False
                await window.request(f"workspace/{what}/refresh", {}, ANSWER_S)
                again = self._asked[window, what] and window in self._windows()
        finally:
            del self._asked[window, what]
