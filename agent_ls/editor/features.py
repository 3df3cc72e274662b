"""Standard requests of LSP, on plain dicts: code actions, hover, and the commands that they carry.

Owns the way from a client's parameters to the surface and back, what of text synchronisation and focus the board is
told, and that an answer given before its card can have been read counts for nothing. Does not own what stands where
(surface.board) nor how it looks. Why no library does this: docs/decisions/0009.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from agent_ls.core.conversation import Conversation
from agent_ls.core.errors import Code, Refusal, Refused
from agent_ls.core.request import Request
from agent_ls.editor.book import Answered
from agent_ls.editor.bound import bound
from agent_ls.editor.connection import Connection, Handler
from agent_ls.editor.desk import Desk
from agent_ls.editor.surface import code_actions, hover
from agent_ls.editor.surface.card import heading, page
from agent_ls.editor.surface.places import line_of
from agent_ls.editor.window import Window
from agent_ls.ports.ledger import LedgerError
from agent_ls.wire.capabilities import RESPOND

SHOW_S: Final = 10.0
INFO: Final = 3

Json = dict[str, Any]


async def code_action(desk: Desk, window: Window, params: Json) -> list[Json]:
    uri = _uri(params)
    first, last = line_of(params, "range", "start"), line_of(params, "range", "end")
    if first is None or last is None:
        raise _bad("`range` has to be a range of the document.")
    context = params.get("context")
    desk.board.use(window, uri, first)
    return code_actions.offered(
        window,
        desk.board.at(window, uri),
        desk.documents,
        lines=(first, last),
        context=context if isinstance(context, dict) else {},
    )


async def resolve(desk: Desk, window: Window, params: Json) -> Json:
    """Every action is complete; some clients ask all the same, and take null for an error."""
    return params


async def hovered(desk: Desk, window: Window, params: Json) -> Json | None:
    uri, line = _uri(params), line_of(params, "position")
    if line is None:
        raise _bad("`position` has to be a position in the document.")
    desk.board.use(window, uri, line)
    here = desk.board.at(window, uri)
    return hover.hover(window, here, line, conversation_of=lambda request: _conversation(desk, request))


async def focused(desk: Desk, window: Window, params: Json) -> None:
    uri = params.get("uri")
    desk.inbox.focus.told(window, focused=params.get("focused") is True)
    if params.get("focused") is True and isinstance(uri, str):
        desk.board.use(window, uri, line_of(params, "range", "start") or 0, told=True)


async def show(desk: Desk, window: Window, params: Json) -> Json:
    """The whole request as a document beside what the person works on; their keyboard stays where it is."""
    request_id = params.get("requestId")
    try:
        found = await desk.reading.entity(request_id) if isinstance(request_id, str) else None
    except LedgerError as error:
        raise Refused(error.refusal) from error
    if not isinstance(found, Request):
        raise Refused(Refusal(Code.UNKNOWN_REQUEST, f"There is no request `{str(request_id)[:80]}`."))
    text = page(found, _conversation(desk, found), markdown=True)
    uri = await desk.keep_card(f"{found.number}-{re.sub('[^A-Za-z0-9]', '', found.digest)[:16]}.md", text)
    shown = False
    if _shows_documents(window):
        wanted = {"uri": uri, "external": False, "takeFocus": False}
        outcome = await window.request("window/showDocument", wanted, SHOW_S)
        result = outcome.result if isinstance(outcome, Answered) else None
        shown = isinstance(result, dict) and result.get("success") is True
    if not shown:
        said = f"#{found.number} {heading(found)}: hover shows all of it, and so does `agent-ls show {found.number}`."
        window.notify("window/showMessage", {"type": INFO, "message": said})
    return {"uri": uri, "shown": shown}


def handlers(desk: Desk) -> dict[str, Handler]:
    """By method name, as a connection wants them."""
    return {
        "textDocument/codeAction": bound(desk, code_action),
        "codeAction/resolve": bound(desk, resolve),
        "textDocument/hover": bound(desk, hovered),
        "agent/window/focus": bound(desk, focused),
    }


def commands(desk: Desk) -> dict[str, Handler]:
    """Commands that are no methods, by the name that a method would have."""
    return {"agent/request/show": bound(desk, show)}


def watched(desk: Desk, synchronisation: Mapping[str, Handler]) -> dict[str, Handler]:
    """Text synchronisation, with the board told of what it does to lines and files."""
    board = desk.board

    def opening(window: Window, params: Json) -> None:
        if uri := _named(params):
            board.opening(window, uri)

    def opened(window: Window, params: Json) -> None:
        if uri := _named(params):
            board.opened(window, uri)

    def changed(window: Window, params: Json) -> None:
        if uri := _named(params):
            desk.inbox.focus.used(window)
            changes = params.get("contentChanges")
            board.typed(window, uri, changes)
            first = changes[0] if isinstance(changes, list) and changes else None
            board.use(window, uri, line_of(first, "range", "start") or 0)

    def closed(window: Window, params: Json) -> None:
        if uri := _named(params):
            board.closed(window, uri)

    found = dict(synchronisation)
    found["textDocument/didClose"] = _then(found["textDocument/didClose"], closed)
    # Before anything waits for the disk: what the person does, and how lines move, counts in the order of its coming.
    found["textDocument/didOpen"] = _first(opening, _then(found["textDocument/didOpen"], opened))
    found["textDocument/didChange"] = _first(changed, found["textDocument/didChange"])
    return found


def guarded(desk: Desk, execute: Handler) -> Handler:
    """`workspace/executeCommand` without answers that nobody can have meant."""

    async def run(connection: Connection, params: Json) -> Any:
        assert isinstance(connection, Window)
        if params.get("command") == RESPOND:
            arguments = params.get("arguments")
            answer = arguments[0] if isinstance(arguments, list) and arguments else None
            request_id = answer.get("requestId") if isinstance(answer, dict) else None
            given_at = _given_at(params)
            if isinstance(request_id, str) and desk.board.unread(connection, request_id, given_at=given_at):
                raise Refused(_UNREAD)
        return await execute(connection, params)

    return run


def _given_at(params: Json) -> float | None:
    """When a command was given that the bridge sends once more, because the daemon before this one died over it."""
    ours = params.get("agentLs")
    given_at = ours.get("givenAt") if isinstance(ours, dict) else None
    return given_at / 1000 if isinstance(given_at, int) else None


def _conversation(desk: Desk, request: Request) -> Conversation | None:
    actor = desk.registry.live(request.conversation_id)
    return None if actor is None else actor.state.conversation


def _shows_documents(window: Window) -> bool:
    able = window.capabilities.get("window")
    able = able.get("showDocument") if isinstance(able, dict) else None
    return isinstance(able, dict) and able.get("support") is True


def _uri(params: Json) -> str:
    uri = _named(params)
    if uri is None:
        raise _bad("`textDocument` has to name a document by its `uri`.")
    return uri


def _named(params: Json) -> str | None:
    document = params.get("textDocument")
    uri = document.get("uri") if isinstance(document, dict) else None
    return uri if isinstance(uri, str) else None


def _bad(sentence: str) -> Refused:
    hint = "See the Language Server Protocol for the parameters of this method."
    return Refused(Refusal(Code.INVALID_PARAMS, sentence, hint))


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


_UNREAD: Final = Refusal(
    Code.TOO_SOON,
    "This request had only just appeared or changed here, so your answer was not used.",
)
