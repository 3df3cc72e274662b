"""Completion in a prompt document: files after `@`, commands after a leading `/`, requests after `#`.

Owns what is offered. What the words mean is prompt's to say.
"""

import re
from typing import Any, Final

from agent_ls.core.display import one_line
from agent_ls.core.mentions import Mention
from agent_ls.core.text import Text, body
from agent_ls.editor.desk import Desk
from agent_ls.editor.features.conversation_documents import path_in, state_of
from agent_ls.editor.features.params import Json, bad, uri_of
from agent_ls.editor.features.prompt import ORDERS
from agent_ls.editor.given import pick
from agent_ls.editor.surface.card import heading, page
from agent_ls.editor.window import Window

MOST: Final = 200
_WORD: Final = re.compile(r"(?:^|(?<=\s))[@/#][^\s@#`\"]*$")
_FILE, _FOLDER, _KEYWORD, _REFERENCE = 17, 19, 14, 18


async def complete(desk: Desk, window: Window, params: Json) -> Json | None:
    uri = uri_of(params)
    paper = desk.transcripts.paper(uri)
    overlay = desk.documents.of(window, uri) if paper is not None and paper.is_prompt else None
    state = await state_of(desk, paper.conversation_id) if paper is not None and overlay is not None else None
    if overlay is None or state is None:
        return None
    line, offset = _place(overlay.text, params)
    word = _WORD.search(overlay.text.lines[line][:offset])
    if word is None:
        return None
    typed = word[0]
    over = {"start": overlay.text.position(line, word.start()), "end": overlay.text.position(line, offset)}
    if typed[0] == "@":
        found = await _files(desk, window, state.root, typed=typed[1:])
    elif typed[0] == "/":
        leads = not "".join(overlay.text.lines[:line]).strip() and word.start() == 0
        found = [_item(f"/{name} ", _KEYWORD, said) for name, said in ORDERS.items()] if leads else []
    else:
        found = [
            _item(
                f"#{request.number}",
                _REFERENCE,
                heading(request),
                documentation=page(request, state.conversation, markdown=True),
            )
            for request in desk.inbox.pending_of(state.conversation.id)
        ]
    items = [{**item, "textEdit": {"range": over, "newText": item["label"]}} for item in found]
    return {"isIncomplete": typed[0] == "@", "items": items}


async def _files(desk: Desk, window: Window, root: str, *, typed: str) -> list[Json]:
    """What the window has open first, then folder by folder, as one types."""
    opened = [path_in(copy.key, root) for copy in desk.documents.everything() if copy.window is window]
    near = [path for path in opened if not path.startswith(("/", "file:")) and path.startswith(typed)]
    folder, _, start = typed.rpartition("/")
    inside = not folder.startswith("/") and ".." not in folder.split("/")
    there = await desk.transcripts.papers.names(f"{root}/{folder}", start, MOST) if inside else []
    names = dict.fromkeys([*near, *(f"{folder}/{name}" if folder else name for name in there)])
    return [
        _item(str(Mention(name)), _FOLDER if name.endswith("/") else _FILE, "open here" if name in near else "")
        for name in names
    ][:MOST]


def _item(label: str, kind: int, detail: str, *, documentation: str | None = None) -> Json:
    item: Json = {"label": label, "filterText": label, "kind": kind}
    if detail:
        item["detail"] = one_line(detail)
    return item if documentation is None else {**item, "documentation": {"kind": "markdown", "value": documentation}}


def _place(text: Text, params: Any) -> tuple[int, int]:
    line, character = pick(params, "position", "line"), pick(params, "position", "character")
    if not isinstance(line, int) or not isinstance(character, int):
        raise bad("`position` has to be a position in the document.")
    line, offset = text.place(line, character)
    return line, min(offset, body(text.lines[line]))
