"""Sending what stands in a prompt document.

Owns that it is taken once, that it is cleared through the window as part of the command, and that what was typed
meanwhile stays. What is sent goes the way of every message, through the handlers of the methods.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agent_ls.core.errors import Code, Refusal, Refused
from agent_ls.core.mentions import mentions, order_in
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Request
from agent_ls.core.spoken_answers import answers_to
from agent_ls.editor import through
from agent_ls.editor.connection import Handler
from agent_ls.editor.desk import Desk
from agent_ls.editor.documents import Overlay
from agent_ls.editor.features.params import Json
from agent_ls.editor.through import Patience
from agent_ls.editor.window import Window
from agent_ls.ports.files import Place
from agent_ls.ports.ledger import LedgerError
from agent_ls.ports.papers import PROMPT

ORDERS: Final[Mapping[str, str]] = {
    "queue": "Send what follows after the run that goes on",
    "steer": "Send what follows into the run that goes on",
    "stop": "Stop the run",
    "title": "Give the conversation this title",
    "deny": "Deny a request with a reason: /deny #7 why",
    "answer": "Answer a question: /answer #7 words, or a number; /answer #7 store=pg tests=1,2",
}
INFO: Final = 3
_NUMBER: Final = re.compile(r"#?(\d+)\b\s*")


@dataclass(frozen=True)
class _Held:
    """The text as it is where the person writes it; `copy` None: on disk, open nowhere."""

    text: str
    copy: Overlay | None


class Prompts:
    """`methods` are the handlers of the methods, by name."""

    def __init__(self, desk: Desk, methods: Mapping[str, Handler]) -> None:
        self._desk = desk
        self._methods = methods
        self._taken: set[str] = set()

    async def send(self, desk: Desk, window: Window, params: Json) -> Json:
        """`{commandId, conversationId, dispatch?}` -> what the method gave, and whether the document is empty again."""
        known = params.get("conversationId")
        state = await desk.registry.state(known) if isinstance(known, str) else _UNNAMED
        if isinstance(state, Refusal):
            raise Refused(state)
        known = state.conversation.id
        if known in self._taken:
            raise Refused(_TWICE)
        self._taken.add(known)
        try:
            held = await self._held(window, known)
            if not held.text.strip():
                if await self._again(params):
                    return {"cleared": True}
                raise Refused(_EMPTY)
            done = await self._sent(window, state, _words(held.text), params=params)
            cleared = await self._clear(known, held)
            # Beside: a window that does not answer holds up nobody else.
            desk.services.supervisor.start("prompts", lambda: self._clear_same(known, held))
        finally:
            self._taken.discard(known)
        if not cleared:
            said = "It is sent. Its text could not be taken out of the prompt document: do so before you send again."
            window.notify("window/showMessage", {"type": INFO, "message": said})
        return {**done, "cleared": cleared}

    async def _again(self, params: Json) -> bool:
        """Whether the bridge gives it once more, because the daemon before this one died when it had done all of it."""
        command = params.get("commandId")
        try:
            return isinstance(command, str) and await self._desk.services.ledger.receipt(command) is not None
        except LedgerError as error:
            raise Refused(error.refusal) from error

    async def _held(self, window: Window, known: str) -> _Held:
        """What this window has open counts, then what was written last elsewhere, then the disk."""
        copies = self._desk.documents.at(self._desk.transcripts.uri(known, prompt=True))
        mine = sorted(copies, key=lambda copy: copy.window is not window)
        if mine:
            if mine[0].lost:
                raise Refused(_LOST)
            return _Held(str(mine[0].text), mine[0])
        return _Held(await self._desk.transcripts.papers.read(known + PROMPT) or "", None)

    async def _clear(self, known: str, held: _Held) -> bool:
        if held.copy is None:
            return await self._desk.transcripts.papers.write_prompt(known, "", instead_of=held.text)
        now = str(held.copy.text)
        if held.copy.closed or not now.startswith(held.text.rstrip("\r\n")):
            return False
        rest = now[len(held.text.rstrip("\r\n")) :].lstrip("\r\n")
        cleared = await through.cut(held.copy, held.text.strip(), rest, patience=Patience())
        if held.copy.saves and cleared and not rest:
            await through.save(held.copy, Patience())
        return cleared

    async def _clear_same(self, known: str, held: _Held) -> None:
        """Other windows that show the very same would send it a second time."""
        for copy in self._desk.documents.at(self._desk.transcripts.uri(known, prompt=True)):
            if copy is not held.copy and not copy.lost and _words(str(copy.text)) == _words(held.text):
                await self._clear(known, _Held(str(copy.text), copy))

    async def _sent(self, window: Window, state: ConversationState, text: str, *, params: Json) -> Json:
        known, command = state.conversation.id, {"commandId": params.get("commandId")}
        dispatch = params.get("dispatch", "auto")
        match order_in(text, frozenset(ORDERS)):
            case ("stop", ""):
                if state.active is None:
                    raise Refused(_NOTHING_RUNS)
                return await self._call(window, "agent/run/interrupt", {**command, "runId": state.active.id})
            case ("title", str(title)) if title:
                given = {**command, "conversationId": known, "title": title}
                return await self._call(window, "agent/conversation/update", given)
            case (("deny" | "answer") as way, str(said)) if found := _NUMBER.match(said):
                request = _numbered(self._desk.inbox.pending_of(known), int(found[1]))
                given = {**command, "requestId": request.id, "digest": request.digest, "decision": way}
                words = said[found.end() :].strip()
                spoken = _answers(request, words) if way == "answer" else {"reason": words} if words else {}
                return await self._call(window, "agent/request/respond", {**given, **spoken})
            case (("queue" | "steer") as way, str(rest)) if rest:
                text, dispatch = rest, way
        message = {
            **command,
            "conversationId": known,
            "content": [{"type": "text", "text": text}],
            "context": await self._context(window, state.root, text),
            "dispatch": dispatch,
        }
        return await self._call(window, "agent/message/send", message)

    async def _call(self, window: Window, method: str, params: Json) -> Json:
        done: Any = await self._methods[method](window, params)
        return dict(done)

    async def _context(self, window: Window, root: str, text: str) -> list[Json]:
        """The files that it names and that are there; in the window's own spelling, so that its own text counts."""
        found: list[Json] = []
        for mention in mentions(text):
            place = await self._desk.files.locate(mention.path, root)
            if not isinstance(place, Place) or not place.exists:
                continue
            copies = self._desk.documents.at(place.uri)
            uri = next((copy.uri for copy in copies if copy.window is window), place.uri)
            span = {} if mention.range is None else {"range": mention.range}
            found.append({"type": "selection" if span else "file", "uri": uri, **span})
        return found


def _words(text: str) -> str:
    """Lines end as they do everywhere but in this file."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _answers(request: Request, words: str) -> Json:
    offered = [{"id": one.id, "label": one.label, "decision": str(one.decision)} for one in request.options]
    answers, option = answers_to({"questions": list(request.questions), "options": offered}, words)
    return {"answers": answers} if option is None else {"answers": answers, "optionId": option}


def _numbered(pending: Sequence[Request], number: int) -> Request:
    for request in pending:
        if request.number == number:
            return request
    message = f"Nothing of this conversation waits as #{number}."
    raise Refused(Refusal(Code.UNKNOWN_REQUEST, message, "`#` in the prompt document completes to what waits."))


_UNNAMED: Final = Refusal(Code.INVALID_PARAMS, "`conversationId` has to name a conversation.")
_EMPTY: Final = Refusal(
    Code.INVALID_PARAMS, "The prompt document is empty.", "Write your message into it, then send it."
)
_TWICE: Final = Refusal(Code.CONVERSATION_BUSY, "This prompt is being sent already.", "Wait a moment.")
_NOTHING_RUNS: Final = Refusal(Code.INVALID_PARAMS, "Nothing runs here that could be stopped.")
_LOST: Final = Refusal(
    Code.STALE_DOCUMENT, "agent-ls has lost track of this document's text.", "Close it, open it again, then send."
)
