"""Hover on a line where a request stands: the whole of what an answer would allow.

Owns which requests a position shows and in which form the client wants it. The words are card's.
"""

from collections.abc import Callable, Sequence
from typing import Any

from agent_ls.core.conversation import Conversation
from agent_ls.core.request import Request
from agent_ls.editor.given import pick
from agent_ls.editor.surface.board import Standing, Viewer
from agent_ls.editor.surface.card import page

Json = dict[str, Any]


def hover(
    window: Viewer,
    here: Sequence[Standing],
    line: int,
    *,
    conversation_of: Callable[[Request], Conversation | None],
) -> Json | None:
    """None where nothing stands, so that other servers' hovers are left alone."""
    markdown = takes_markdown(window)
    found = {one.request.id: one.request for one in here if one.place.line == line}
    pages = [page(request, conversation_of(request), markdown=markdown) for request in found.values()]
    if not pages:
        return None
    divided = ("\n---\n\n" if markdown else "\n\n").join(pages)
    return {"contents": {"kind": "markdown" if markdown else "plaintext", "value": divided}}


def takes_markdown(window: Viewer) -> bool:
    formats = pick(window.capabilities, "textDocument", "hover", "contentFormat")
    return isinstance(formats, list) and "markdown" in formats
