"""What a person is writing to a conversation and has not sent: it belongs to the conversation, not to a window.

Owns the newest text of each conversation, that the other windows which follow it hear of it, and that it lies on disk
a moment later. Does not own when a window shows it instead of what stands there (the window's own matter), nor the
prompt document, which nothing but the person writes.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from agent_ls.ports.host import Clock
from agent_ls.ports.papers import DRAFT, Papers
from agent_ls.runtime.supervisor import Supervisor

LONGEST_TOLD: Final = 100_000
"""Characters; who follows is told of no longer one with each key, and sees it where they attach next."""

GATHER_S: Final = 0.1
"""The first key is written at once; of what follows within this time, the last."""

log = logging.getLogger(__name__)


class Following(Protocol):
    def follows(self, conversation_id: str) -> bool: ...

    def notify(self, method: str, params: Mapping[str, Any]) -> None: ...


class Drafts:
    """`windows` are those that are there now."""

    def __init__(
        self, papers: Papers, supervisor: Supervisor, clock: Clock, *, windows: Callable[[], Sequence[Following]]
    ) -> None:
        self._papers = papers
        self._supervisor = supervisor
        self._clock = clock
        self._windows = windows
        self._texts: dict[str, str] = {}
        self._unwritten: set[str] = set()
        self._deleted: set[str] = set()
        self._writing = False

    def take(self, window: Following, conversation_id: str, text: str) -> None:
        """Must not wait. The last one counts, whichever window it comes from."""
        if conversation_id in self._deleted:  # a key that was under way, of a window that followed it
            return
        self._texts[conversation_id] = text
        self._unwritten.add(conversation_id)
        told = {"conversationId": conversation_id, "text": text}
        for other in self._windows() if len(text) <= LONGEST_TOLD else ():
            if other is not window and other.follows(conversation_id):
                other.notify("agent/conversation/draft", told)
        if not self._writing:
            self._writing = self._supervisor.start("drafts", self._write)

    async def load(self, conversation_id: str) -> None:
        """From then on `of` knows it."""
        if conversation_id not in self._texts:
            text = await self._papers.read(conversation_id + DRAFT) or ""
            self._texts.setdefault(conversation_id, text)

    def of(self, conversation_id: str) -> str:
        """Empty where there is none."""
        return self._texts.get(conversation_id, "")

    def deleted(self, conversation_id: str) -> None:
        self._deleted.add(conversation_id)
        self._texts.pop(conversation_id, None)
        self._unwritten.discard(conversation_id)

    async def _write(self) -> None:
        try:
            while self._unwritten:
                for known in tuple(self._unwritten):
                    self._unwritten.discard(known)
                    await self._papers.write_draft(known, self.of(known))
                    if known not in self._texts:  # deleted meanwhile
                        await self._papers.write_draft(known, "")
                await self._clock.sleep(GATHER_S)
        finally:
            self._writing = False
