"""The two documents of a conversation over LSP: outline, folds, links, completion, lenses and code actions.

Owns the way from a client's request to the surface and back, in its position encoding. Every other document gets an
empty answer at once: these requests come for each file that is open.
"""

from collections.abc import Iterable
from typing import Any, Final, TypeVar

from anyio import lowlevel

from agent_ls.core.errors import Refusal
from agent_ls.core.mentions import mention_of
from agent_ls.core.projection import ConversationState
from agent_ls.core.text import Text, body
from agent_ls.core.uris import NotLocal, file_uri, local_path, relative
from agent_ls.editor.desk import Desk
from agent_ls.editor.features.params import Json, uri_of
from agent_ls.editor.given import pick
from agent_ls.editor.surface.code_actions import takes_literals
from agent_ls.editor.surface.controls import controls
from agent_ls.editor.surface.outline import Link, Part, folds, linking, mentioned, outlining
from agent_ls.editor.window import Window
from agent_ls.ports.files import Place
from agent_ls.ports.papers import Paper
from agent_ls.wire.capabilities import AGENT_KIND

T = TypeVar("T")

MOST_CALLS: Final = 2_000
"""An outline of more shows the runs alone."""

MOST_LINKS: Final = 2_000
"""The newest."""

TURN: Final = 200
_STRING: Final = 15
_MODULE: Final = 2
_FUNCTION: Final = 12


async def symbols(desk: Desk, window: Window, params: Json) -> list[Json]:
    uri, paper, text = _document(desk, window, params)
    if paper is None or text is None:
        return []
    found = await _outline(text, paper)
    runs = [run for title in found for run in title.parts]
    if sum(len(run.parts) for run in runs) > MOST_CALLS:
        for run in runs:
            run.parts = []
    if pick(window.capabilities, "textDocument", "documentSymbol", "hierarchicalDocumentSymbolSupport") is True:
        return await _gently(_symbol(part, text) for part in found)
    return await _gently(_flat(found, text, uri, inside=None))


async def folding(desk: Desk, window: Window, params: Json) -> list[Json]:
    _, paper, text = _document(desk, window, params)
    if paper is None or text is None:
        return []
    found = folds(await _outline(text, paper))
    return await _gently({"startLine": first, "endLine": last, "kind": "region"} for first, last in found)


async def document_links(desk: Desk, window: Window, params: Json) -> list[Json]:
    _, paper, text = _document(desk, window, params)
    if paper is None or text is None:
        return []
    there: list[Link] = []
    await _stepped(linking(text.lines, there))
    found = await _gently(
        {"range": _span(text, link.line, (link.start, link.end)), "target": link.target} for link in there[-MOST_LINKS:]
    )
    if not paper.is_prompt:
        return found
    state = await state_of(desk, paper.conversation_id)
    for line, match in mentioned(text.lines) if state is not None else ():
        assert state is not None
        mention = mention_of(match)
        place = await desk.files.locate(mention.path, state.root)
        if isinstance(place, Place) and place.exists:
            target = place.uri + (f"#L{mention.first}" if mention.first else "")
            found.append({"range": _span(text, line, (match.start(), match.end())), "target": target})
    return found


async def lenses(desk: Desk, window: Window, params: Json) -> list[Json]:
    """Above the prompt, and at the end of the transcript, where one reads."""
    _, paper, text = _document(desk, window, params)
    state = None if paper is None else await state_of(desk, paper.conversation_id)
    if paper is None or state is None:
        return []
    line = 0 if paper.is_prompt or text is None else max(0, len(text.lines) - 2)
    place = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 0}}
    return [{"range": place, "command": command} for command in _controls(desk, state)]


async def actions(desk: Desk, window: Window, uri: str, *, only: Any) -> list[Json]:
    """Code actions of one of the documents; none elsewhere."""
    paper = desk.transcripts.paper(uri)
    wanted = not isinstance(only, list) or not only or any(kind in {"", AGENT_KIND} for kind in only)
    state = await state_of(desk, paper.conversation_id) if paper is not None and wanted else None
    if state is None:
        return []
    if not takes_literals(window):
        return _controls(desk, state)
    return [{"title": each["title"], "kind": AGENT_KIND, "command": each} for each in _controls(desk, state)]


async def state_of(desk: Desk, conversation_id: str) -> ConversationState | None:
    found = await desk.registry.state(conversation_id)
    return None if isinstance(found, Refusal) else found


def spelled(desk: Desk, window: Window, path: str) -> str:
    """A file as the window spells it where it has it open, else as we do."""
    key = file_uri(path)
    return next((copy.uri for copy in desk.documents.at(key) if copy.window is window), key)


def path_in(uri: str, root: str) -> str:
    """As a person writes it in a message about this folder."""
    path = local_path(uri)
    return uri if isinstance(path, NotLocal) else relative(path, root)


async def _outline(text: Text, paper: Paper) -> list[Part]:
    top: list[Part] = []
    await _stepped(outlining(text.lines, top, runs=not paper.is_prompt))
    return top


async def _stepped(steps: Iterable[None]) -> None:
    """A long document holds up nobody: between the steps the others get their turn."""
    for _ in steps:
        await lowlevel.checkpoint()


async def _gently(made: Iterable[T]) -> list[T]:
    found = []
    for each in made:
        found.append(each)
        if len(found) % TURN == 0:
            await lowlevel.checkpoint()
    return found


def _controls(desk: Desk, state: ConversationState) -> list[Json]:
    return controls(state, desk.inbox.pending_of(state.conversation.id), desk.choices.of)


def _document(desk: Desk, window: Window, params: Json) -> tuple[str, Paper | None, Text | None]:
    uri = uri_of(params)
    paper = desk.transcripts.paper(uri)
    overlay = None if paper is None else desk.documents.of(window, uri)
    return uri, paper, None if overlay is None else overlay.text.copy()


def _symbol(part: Part, text: Text) -> Json:
    shown: Json = {
        "name": part.name,
        "kind": _kind(part),
        "range": _lines(text, part.first, part.last),
        "selectionRange": _lines(text, part.first, part.first),
    }
    return {**shown, "children": [_symbol(each, text) for each in part.parts]} if part.parts else shown


def _flat(parts: Iterable[Part], text: Text, uri: str, *, inside: str | None) -> Iterable[Json]:
    for part in parts:
        shown = {
            "name": part.name,
            "kind": _kind(part),
            "location": {"uri": uri, "range": _lines(text, part.first, part.last)},
        }
        yield shown if inside is None else {**shown, "containerName": inside}
        yield from _flat(part.parts, text, uri, inside=part.name)


def _kind(part: Part) -> int:
    return _FUNCTION if part.is_call else _MODULE if part.level == 2 else _STRING


def _lines(text: Text, first: int, last: int) -> Json:
    return {"start": text.position(first, 0), "end": text.position(last, body(text.lines[last]))}


def _span(text: Text, line: int, place: tuple[int, int]) -> Json:
    return {"start": text.position(line, place[0]), "end": text.position(line, place[1])}
