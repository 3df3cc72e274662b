"""`textDocument/did*`: text synchronisation, on plain dicts and in the order in which it came.

Owns nothing but the way to editor.documents. The change itself is made before anything is awaited.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from agent_ls.editor.connection import Connection, Handler
from agent_ls.editor.desk import Desk
from agent_ls.editor.window import Window

Handle = Callable[[Desk, Window, dict[str, Any]], Awaitable[None]]


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


def handlers(desk: Desk) -> dict[str, Handler]:
    """By method name, as a connection wants them."""
    return {
        "textDocument/didOpen": _bound(desk, opened),
        "textDocument/didChange": _bound(desk, changed),
        "textDocument/didSave": _bound(desk, saved),
        "textDocument/didClose": _bound(desk, closed),
    }


def _bound(desk: Desk, handle: Handle) -> Handler:
    async def run(connection: Connection, params: dict[str, Any]) -> None:
        assert isinstance(connection, Window)
        await handle(desk, connection, params)

    return run
