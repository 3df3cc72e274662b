"""Answering requests with standard means: hover, the commands of code actions, the whole request as a document.

Owns the way from a client's parameters to the surface and back, and that an answer given before its card can have been
read counts for nothing. Does not own what stands where (surface.board) nor how it looks.
"""

import re
from typing import Any, Final

from agent_ls.core.conversation import Conversation
from agent_ls.core.errors import Code, Refusal, Refused
from agent_ls.core.request import Request
from agent_ls.editor.book import Answered
from agent_ls.editor.connection import Connection, Handler
from agent_ls.editor.desk import Desk
from agent_ls.editor.features.params import Json, bad, uri_of
from agent_ls.editor.given import pick
from agent_ls.editor.surface import hover
from agent_ls.editor.surface.card import heading, page
from agent_ls.editor.surface.places import line_of
from agent_ls.editor.window import Window
from agent_ls.ports.ledger import LedgerError
from agent_ls.wire.capabilities import CHOOSE, RESPOND

SHOW_S: Final = 10.0
INFO: Final = 3


async def hovered(desk: Desk, window: Window, params: Json) -> Json | None:
    uri, line = uri_of(params), line_of(params, "position")
    if line is None:
        raise bad("`position` has to be a position in the document.")
    desk.board.use(window, uri, line)
    here = desk.board.at(window, uri)
    return hover.hover(window, here, line, conversation_of=lambda request: _conversation(desk, request))


async def show(desk: Desk, window: Window, params: Json) -> Json:
    """The whole request as a document beside what the person works on; their keyboard stays where it is."""
    found = await _request(desk, params)
    text = page(found, _conversation(desk, found), markdown=True)
    uri = await desk.keep_card(f"{found.number}-{re.sub('[^A-Za-z0-9]', '', found.digest)[:16]}.md", text)
    said = f"#{found.number} {heading(found)}: hover shows all of it, and so does `agent-ls show {found.number}`."
    return {"uri": uri, "shown": await show_document(window, uri, otherwise=said)}


async def choose(desk: Desk, window: Window, params: Json) -> Json:
    """One choice of several questions, kept until they are sent together -> `{chosen: {questionId: [optionId]}}`."""
    found = await _request(desk, params)
    if not found.pending:
        raise Refused(Refusal(Code.ALREADY_DECIDED, f"#{found.number} is answered already."))
    if params.get("digest") != found.digest:
        raise Refused(Refusal(Code.DIGEST_MISMATCH, f"#{found.number} has changed since it was shown."))
    if wrong := desk.choices.choose(found, params.get("questionId"), params.get("optionId")):
        raise Refused(wrong)
    return {"chosen": desk.choices.of(found)}


async def show_document(window: Window, uri: str, *, otherwise: str) -> bool:
    """Beside what the person works on, only as the answer to a command of theirs; a line where that cannot be."""
    shown = False
    if pick(window.capabilities, "window", "showDocument", "support") is True:
        wanted = {"uri": uri, "external": False, "takeFocus": False}
        outcome = await window.request("window/showDocument", wanted, SHOW_S)
        result = outcome.result if isinstance(outcome, Answered) else None
        shown = isinstance(result, dict) and result.get("success") is True
    if not shown:
        window.notify("window/showMessage", {"type": INFO, "message": otherwise})
    return shown


def guarded(desk: Desk, execute: Handler) -> Handler:
    """`workspace/executeCommand` without answers that nobody can have meant."""

    async def run(connection: Connection, params: Json) -> Any:
        assert isinstance(connection, Window)
        if params.get("command") in {RESPOND, CHOOSE}:
            arguments = params.get("arguments")
            answer = arguments[0] if isinstance(arguments, list) and arguments else None
            request_id = answer.get("requestId") if isinstance(answer, dict) else None
            given_at = _given_at(params)
            if isinstance(request_id, str) and desk.board.unread(connection, request_id, given_at=given_at):
                raise Refused(_UNREAD)
        return await execute(connection, params)

    return run


async def _request(desk: Desk, params: Json) -> Request:
    request_id = params.get("requestId")
    try:
        found = await desk.reading.entity(request_id) if isinstance(request_id, str) else None
    except LedgerError as error:
        raise Refused(error.refusal) from error
    if not isinstance(found, Request):
        raise Refused(Refusal(Code.UNKNOWN_REQUEST, f"There is no request `{str(request_id)[:80]}`."))
    return found


def _given_at(params: Json) -> float | None:
    """When a command was given that the bridge sends once more, because the daemon before this one died over it."""
    given_at = pick(params, "agentLs", "givenAt")
    return given_at / 1000 if isinstance(given_at, int) else None


def _conversation(desk: Desk, request: Request) -> Conversation | None:
    actor = desk.registry.live(request.conversation_id)
    return None if actor is None else actor.state.conversation


_UNREAD: Final = Refusal(
    Code.TOO_SOON,
    "This request had only just appeared or changed here, so your answer was not used.",
)
