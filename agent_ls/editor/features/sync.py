"""Text synchronisation, focus and drafts, with the board told of them.

Owns what a didOpen, didChange and didClose mean for what is drawn, and in which order. Does not own the copies
(documents) nor what stands where (surface.board).
"""

import logging
from collections.abc import Callable, Mapping

from agent_ls.core.errors import Refusal
from agent_ls.editor.connection import Connection, Handler
from agent_ls.editor.desk import Desk
from agent_ls.editor.features.params import Json
from agent_ls.editor.given import document_uri
from agent_ls.editor.surface.places import line_of
from agent_ls.editor.window import Window
from agent_ls.ports.ledger import LedgerError
from agent_ls.wire.later import Draft
from agent_ls.wire.methods import CLIENT_NOTIFICATIONS

log = logging.getLogger(__name__)


async def folders_changed(desk: Desk, window: Window, params: Json) -> None:
    window.move_folders(params)


async def focused(desk: Desk, window: Window, params: Json) -> None:
    uri = params.get("uri")
    desk.inbox.focus.told(window, focused=params.get("focused") is True)
    if params.get("focused") is True and isinstance(uri, str):
        desk.board.use(window, uri, line_of(params, "range", "start") or 0, told=True)


async def drafted(desk: Desk, window: Window, params: Json) -> None:
    said = CLIENT_NOTIFICATIONS["agent/conversation/draft"].read(params)
    if isinstance(said, Refusal):
        log.warning("window %d (%s): a draft that cannot be kept: %s", window.number, window.client, said.message)
        return
    assert isinstance(said, Draft)
    # What this window follows is there: nothing waits, so drafts stay in the order of their keys.
    if window.follows(said.conversation_id) or await _is_there(desk, said.conversation_id):
        desk.drafts.take(window, said.conversation_id, said.text)


def watched(desk: Desk, synchronisation: Mapping[str, Handler]) -> dict[str, Handler]:
    """Text synchronisation, with the board told of what it does to lines and files."""
    board = desk.board

    def opening(window: Window, params: Json) -> None:
        if uri := document_uri(params):
            board.opening(window, uri)
            desk.transcripts.moved(uri)

    def opened(window: Window, params: Json) -> None:
        if uri := document_uri(params):
            board.opened(window, uri)

    def changed(window: Window, params: Json) -> None:
        if uri := document_uri(params):
            desk.inbox.focus.used(window)
            changes = params.get("contentChanges")
            board.typed(window, uri, changes)
            desk.redrawing.typed(window, uri)
            first = changes[0] if isinstance(changes, list) and changes else None
            board.use(window, uri, line_of(first, "range", "start") or 0)

    def closed(window: Window, params: Json) -> None:
        if uri := document_uri(params):
            board.closed(window, uri)

    found = dict(synchronisation)
    found["textDocument/didClose"] = _then(found["textDocument/didClose"], closed)
    # Before anything waits for the disk: what the person does, and how lines move, counts in the order of its coming.
    found["textDocument/didOpen"] = _first(opening, _then(found["textDocument/didOpen"], opened))
    found["textDocument/didChange"] = _first(changed, found["textDocument/didChange"])
    return found


async def _is_there(desk: Desk, conversation_id: str) -> bool:
    try:
        return await desk.reading.head(conversation_id) is not None
    except LedgerError:
        return False


def _then(handler: Handler, told: Callable[[Window, Json], None]) -> Handler:
    async def run(connection: Connection, params: Json) -> None:
        assert isinstance(connection, Window)
        await handler(connection, params)
        told(connection, params)

    return run


def _first(told: Callable[[Window, Json], None], handler: Handler) -> Handler:
    async def run(connection: Connection, params: Json) -> None:
        assert isinstance(connection, Window)
        told(connection, params)
        await handler(connection, params)

    return run
