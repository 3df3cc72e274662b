"""`textDocument/did*` and `agent/diagnostics`: what a window says of its documents, in the order in which it came.

Owns nothing but the way to editor.documents. The change itself is made before anything is awaited.
"""

from typing import Any

from agent_ls.editor.bound import bound
from agent_ls.editor.connection import Handler
from agent_ls.editor.desk import Desk
from agent_ls.editor.window import Window


async def opened(desk: Desk, window: Window, params: dict[str, Any]) -> None:
    overlay = desk.documents.open(window, params)
    if overlay is not None:
        await desk.settle(overlay)


async def changed(desk: Desk, window: Window, params: dict[str, Any]) -> None:
    overlay = desk.documents.change(window, params)
    if overlay is not None:
        await desk.settle(overlay)


async def saved(desk: Desk, window: Window, params: dict[str, Any]) -> None:
    desk.documents.save(window, params)


async def closed(desk: Desk, window: Window, params: dict[str, Any]) -> None:
    desk.documents.close(window, params)


async def remarked(desk: Desk, window: Window, params: dict[str, Any]) -> None:
    desk.language.take(window, params)


def handlers(desk: Desk) -> dict[str, Handler]:
    """By method name, as a connection wants them."""
    return {
        "textDocument/didOpen": bound(desk, opened),
        "textDocument/didChange": bound(desk, changed),
        "textDocument/didSave": bound(desk, saved),
        "textDocument/didClose": bound(desk, closed),
        "agent/diagnostics": bound(desk, remarked),
    }
