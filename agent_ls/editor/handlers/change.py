"""`agent/change/*`: the person looks through what the agent has changed, keeps it or takes it back.

Owns how hunks are told to a window, in its own spelling and position encoding. What a hunk is and how it is undone is
runtime.review's.
"""

from collections.abc import Mapping
from itertools import accumulate
from typing import Any, Final

from agent_ls.core.errors import Code, Refusal
from agent_ls.core.projection import ConversationState
from agent_ls.core.review import Review
from agent_ls.core.text import split, units
from agent_ls.core.textfile import printable, split_lines
from agent_ls.core.uris import path_of, relative
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk
from agent_ls.editor.handlers.fingerprint import order
from agent_ls.editor.window import Window
from agent_ls.runtime.payloads import TEXT_LIMIT, shortened
from agent_ls.runtime.review import Applied, FileReview
from agent_ls.wire import models


async def list_(desk: Desk, window: Window, params: models.ListChanges) -> Answer:
    state = await _state(desk, params.conversation_id)
    if isinstance(state, Refusal):
        return state
    found = await desk.reviewer.files(state, params.run_id)
    return {"changes": [_file(desk, window, review, root=state.root) for review in found]}


async def keep(desk: Desk, window: Window, params: models.DecideChange) -> Answer:
    return await _decide(desk, params, undo=False)


async def undo(desk: Desk, window: Window, params: models.DecideChange) -> Answer:
    return await _decide(desk, params, undo=True)


async def _decide(desk: Desk, params: models.DecideChange, *, undo: bool) -> Answer:
    """A command that comes again meets its receipt; its file is not touched again."""
    review: Review | Refusal = Review(marks={})
    if await desk.services.ledger.receipt(params.command_id) is None:
        state = await _state(desk, params.conversation_id)
        if isinstance(state, Refusal):
            return state
        uri = desk.documents.key(params.uri)
        if undo:
            token = f"{params.conversation_id}.undo.{params.command_id}"
            review = await desk.reviewer.undo(state, uri, hunk_id=params.hunk_id, seen=params.hash, token=token)
        else:
            review = await desk.reviewer.keep(state, uri, params.hunk_id)
    if isinstance(review, Refusal):
        return review
    return await desk.commands.run(order(params, params.conversation_id, review))


async def _state(desk: Desk, conversation_id: str) -> ConversationState | Refusal:
    state = await desk.registry.state(conversation_id)
    if isinstance(state, Refusal):
        return state
    there, here = state.conversation.host, desk.services.host
    if there and here and there != here:
        return Refusal(Code.UNSUPPORTED, f"The files of this conversation are on {there}; review them there.")
    return state


def _file(desk: Desk, window: Window, review: FileReview, *, root: str) -> dict[str, Any]:
    copy = next((one for one in desk.documents.at(review.uri) if one.window is window), None)
    path = path_of(review.uri)
    lines = _Lines(review.text or "", window.encoding)
    shown: dict[str, Any] = {
        "uri": review.uri if copy is None else copy.uri,
        "path": printable(relative(path, root)),
        "hash": review.digest,
        "hunks": [_hunk(one, lines) for one in review.applied],
    }
    return shown if review.trouble is None else {**shown, "trouble": review.trouble}


def _hunk(one: Applied, lines: "_Lines") -> dict[str, Any]:
    texts = {"old": printable(one.hunk.old), "new": printable(one.hunk.new)}
    cut = any(len(text) > TEXT_LIMIT for text in texts.values())
    return {
        "id": one.id,
        "itemId": one.item.id,
        "runId": one.item.run_id,
        "state": one.state,
        "range": {"start": lines.position(one.start), "end": lines.position(one.end)},
        **{name: shortened(text) if len(text) > TEXT_LIMIT else text for name, text in texts.items()},
        **({"cut": True} if cut else {}),
    }


class _Lines:
    """Where a line of a file begins, as LSP counts: there a lone `\\r` ends a line too."""

    def __init__(self, text: str, encoding: str) -> None:
        self._text = text
        self._encoding = encoding
        lines = split_lines(text)
        self._starts = [0, *accumulate(map(len, lines))]
        self._plain = "\r" not in text.replace("\r\n", "\n")

    def position(self, line: int) -> dict[str, int]:
        if line >= len(self._starts) - 1 or not self._plain:
            before = split(self._text[: self._starts[min(line, len(self._starts) - 1)]])
            extra = max(0, line - len(self._starts) + 1) if not self._text else 0
            return {"line": len(before) - 1 + extra, "character": units(before[-1], self._encoding)}
        return {"line": line, "character": 0}


HANDLERS: Final[Mapping[str, Any]] = {
    "agent/change/list": list_,
    "agent/change/keep": keep,
    "agent/change/undo": undo,
}
