"""Transcripts that grow: what has settled goes to the end of the file, through the windows that have it open.

Owns which items each copy of a transcript lacks, and that nothing is ever written to disk beneath an open copy. Does
not own their form (wire.transcript) nor the files (ports.papers). A copy that is new here is read once to see what it
lacks; after that an item costs what it adds, however long the conversation is.
"""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from agent_ls.core.conversation import SUBAGENT
from agent_ls.core.events import Event
from agent_ls.core.items import Item
from agent_ls.core.projection import ConversationState
from agent_ls.core.uris import NotLocal, file_uri, local_path
from agent_ls.editor import through
from agent_ls.editor.documents import Documents, Overlay
from agent_ls.editor.through import Made, Patience
from agent_ls.ports.host import Clock
from agent_ls.ports.papers import PROMPT, TRANSCRIPT, Paper, Papers, paper_named
from agent_ls.runtime.supervisor import Supervisor
from agent_ls.wire import transcript

GATHER_S: Final = 0.05
AGAIN_S: Final = 1.0
TRIES: Final = 5
AT_ONCE: Final = 200
LOOKED_AT: Final = 200
"""How many of the newest items a copy is searched for that was written before this daemon, or by a window."""

StateOf = Callable[[str], ConversationState | None]


@dataclass(eq=False)
class _Copy:
    """The disk's, or a window's: what it lacks, and the run that its end belongs to."""

    lacks: dict[str, None]
    run_id: str | None
    working: bool = False


@dataclass(eq=False)
class _Kept:
    """`disk` is None until it was looked at, and again once windows may have saved over it."""

    disk: _Copy | None = None
    windows: dict[Overlay, _Copy] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    due: bool = False
    working: bool = False


class Transcripts:
    """`state_of` gives a conversation that is in memory, as every one that changes is; `load` brings one there."""

    def __init__(
        self,
        papers: Papers,
        documents: Documents,
        *,
        state_of: StateOf,
        load: Callable[[str], Awaitable[object]],
        supervisor: Supervisor,
        clock: Clock,
    ) -> None:
        self.papers = papers
        self._documents = documents
        self._state_of = state_of
        self._load = load
        self._supervisor = supervisor
        self._clock = clock
        self._kept: dict[str, _Kept] = {}

    def on_events(self, conversation_id: str, events: Sequence[Event]) -> None:
        """After each commit; must not wait."""
        items = [
            event.entity.id for event in events if isinstance(event.entity, Item) and transcript.settled(event.entity)
        ]
        kept = self._kept.get(conversation_id)
        if kept is not None:
            fresh = dict.fromkeys(item_id for item_id in items if item_id not in kept.written)
            kept.written |= fresh.keys()
            for copy in (kept.disk, *kept.windows.values()):
                if copy is not None:
                    copy.lacks |= fresh
            if not fresh:
                return
        if items or kept is None:
            self.due(conversation_id)

    def moved(self, uri: str) -> None:
        """A window opens or closes a document: if it is a transcript, something may be lacking there."""
        paper = self.paper(uri)
        if paper is not None:
            if (kept := self._kept.get(paper.conversation_id)) is not None:
                kept.disk = None
            self.show(paper.conversation_id)

    def show(self, conversation_id: str) -> None:
        """Somebody looks at it: it is kept in step from now on, and brought there if it was not yet."""

        async def brought() -> None:
            await self._load(conversation_id)
            self.due(conversation_id)

        if self._state_of(conversation_id) is None:
            self._supervisor.start("transcript", brought)
        else:
            self.due(conversation_id)

    def deleted(self, conversation_id: str) -> None:
        kept = self._kept.pop(conversation_id, None)

        async def remove() -> None:
            while kept is not None and kept.working:
                await self._clock.sleep(GATHER_S)
            await self.papers.remove(conversation_id)

        self._supervisor.start("transcript", remove)

    def paper(self, uri: str) -> Paper | None:
        """Which conversation's document a client's spelling names."""
        path = local_path(uri)
        if isinstance(path, NotLocal):
            return None
        found = paper_named(path, self.papers.folder)
        if found is None and path.endswith(".md"):
            known = local_path(self._documents.key(uri))
            found = None if isinstance(known, NotLocal) else paper_named(known, self.papers.folder)
        return found

    def uri(self, conversation_id: str, *, prompt: bool) -> str:
        return file_uri(f"{self.papers.folder}/{conversation_id}{PROMPT if prompt else TRANSCRIPT}")

    @property
    def folder_uri(self) -> str:
        return file_uri(self.papers.folder)

    def due(self, conversation_id: str) -> None:
        state = self._state_of(conversation_id)
        if state is None or not state.exists or state.conversation.relation == SUBAGENT:
            return
        kept = self._kept.setdefault(conversation_id, _Kept())
        kept.due = True
        if not kept.working:
            kept.working = self._supervisor.start("transcript", lambda: self._work(conversation_id, kept))

    async def _work(self, conversation_id: str, kept: _Kept) -> None:
        tries = 0
        try:
            while kept.due and tries < TRIES and self._kept.get(conversation_id) is kept:
                await self._clock.sleep(AGAIN_S if tries else GATHER_S)
                kept.due = False
                state = self._state_of(conversation_id)
                if state is not None and not await self._grow(state, kept):
                    tries, kept.due = tries + 1, True
                else:
                    tries = 0
        finally:
            kept.working = False

    async def _grow(self, state: ConversationState, kept: _Kept) -> bool:
        """False: something could not be added now."""
        known = state.conversation.id
        copies = self._documents.at(self.uri(known, prompt=False))
        if not copies:
            return await self._grow_on_disk(state, kept)
        kept.disk = None
        kept.windows = {overlay: copy for overlay, copy in kept.windows.items() if not overlay.closed}
        for overlay in copies:
            self._due_in_window(state, kept, overlay)
        return True

    async def _grow_on_disk(self, state: ConversationState, kept: _Kept) -> bool:
        known = state.conversation.id
        if kept.disk is None:
            text = await self.papers.read(known + TRANSCRIPT)
            if text is None:
                await self.papers.make_prompt(known)
            if self._documents.at(self.uri(known, prompt=False)):
                return False
            kept.disk = _compared(state, kept, text or "")
            if not text:
                await self.papers.append(known, transcript.head(state.conversation))
        copy = kept.disk
        while copy.lacks:
            more, ids, run_id = _more(state, copy)
            if more and not await self.papers.append(known, more):
                return False
            _taken(copy, ids, run_id)
        return True

    def _due_in_window(self, state: ConversationState, kept: _Kept, overlay: Overlay) -> None:
        """Each window at its own pace: one that does not answer holds up no other."""
        copy = kept.windows.get(overlay)
        if copy is None:
            copy = kept.windows[overlay] = _compared(state, kept, str(overlay.text))
        if copy.lacks and not copy.working:
            known = state.conversation.id
            copy.working = self._supervisor.start("transcript", lambda: self._work_in_window(known, copy, overlay))

    async def _work_in_window(self, conversation_id: str, copy: _Copy, overlay: Overlay) -> None:
        tries = 0
        try:
            while copy.lacks and tries < TRIES and not overlay.closed:
                if tries:
                    await self._clock.sleep(AGAIN_S)
                state = self._state_of(conversation_id)
                if state is None:
                    return
                tries = 0 if await self._grow_in_window(state, copy, overlay) else tries + 1
        finally:
            copy.working = False

    async def _grow_in_window(self, state: ConversationState, copy: _Copy, overlay: Overlay) -> bool:
        while copy.lacks and not overlay.closed:
            more, ids, run_id = _more(state, copy)
            if more and not isinstance(await through.append(overlay, more, Patience()), Made):
                return overlay.closed
            _taken(copy, ids, run_id)
        if overlay.saves:
            await through.save(overlay, Patience())
        return True


def _more(state: ConversationState, copy: _Copy) -> tuple[str, list[str], str | None]:
    """The first of what a copy lacks, the items in it, and the run that it ends with."""
    for known in [known for known in copy.lacks if known not in state.items]:
        del copy.lacks[known]
    items = sorted((state.items[known] for known in copy.lacks), key=lambda item: item.ord)[:AT_ONCE]
    text = "".join(transcript.grown(items, copy.run_id))
    last = next((item.run_id for item in reversed(items) if transcript.body(item)), copy.run_id)
    return text, [item.id for item in items], last


def _taken(copy: _Copy, ids: Iterable[str], run_id: str | None) -> None:
    for known in ids:
        copy.lacks.pop(known, None)
    copy.run_id = run_id


def _compared(state: ConversationState, kept: _Kept, text: str) -> _Copy:
    """What a text of which nothing is known lacks. What a window shows as another line end is the same."""
    items = sorted(filter(transcript.settled, state.items.values()), key=lambda item: item.ord)
    kept.written |= {item.id for item in items}
    text = text.replace("\r\n", "\n")
    if "## Run " not in text:
        return _Copy(dict.fromkeys(item.id for item in items), None)
    seen: Counter[tuple[str, str]] = Counter()
    lacks, last = [], None
    for item in islice(items, max(0, len(items) - LOOKED_AT), None):
        said = transcript.body(item)
        start = _begins(text, item.run_id)
        seen[item.run_id, said] += 1
        if said and (start < 0 or text.count(f"\n{said}\n", start) < seen[item.run_id, said]):
            lacks.append(item.id)
        elif said:
            last = item.run_id
    return _Copy(dict.fromkeys(lacks), last)


def _begins(text: str, run_id: str) -> int:
    """Where the run stands in a transcript; -1 where it does not."""
    found = re.search(rf"^## Run {transcript.ordinal(run_id)}(?: ·|$)", text, re.MULTILINE)
    return -1 if found is None else found.start()
