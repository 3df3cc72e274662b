"""`agent/request/*`: what waits for a person, their answer, and the whole of what it would allow."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from agent_ls.core import respond
from agent_ls.core.draft import Decision
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Answer as Said
from agent_ls.core.request import Request
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk
from agent_ls.editor.handlers.fingerprint import what
from agent_ls.editor.window import Window
from agent_ls.wire import models
from agent_ls.wire.encode import to_wire


async def list_(desk: Desk, window: Window, params: models.ListRequests) -> Answer:
    if params.number is not None:
        one = await desk.services.ledger.request_by_number(params.number)
        return {"requests": [] if one is None else [to_wire(one)]}
    found = await desk.services.ledger.requests(params.workspace, params.conversation_id)
    return {"requests": [to_wire(request) for request in found]}


async def answer(desk: Desk, window: Window, params: models.Respond) -> Answer:
    actor = await desk.registry.actor(params.request_id.partition(".")[0])
    if isinstance(actor, Refusal):
        return _unknown(params.request_id)
    decide = partial(_respond, params=params, by=desk.person, where=window.client)
    return await actor.command(params.command_id, decide, what=what(params))


async def preview(desk: Desk, window: Window, params: models.OfRequest) -> Answer:
    found = await desk.services.ledger.find(params.request_id)
    if not isinstance(found, Request):
        return _unknown(params.request_id)
    shown: dict[str, Any] = {
        "requestId": found.id,
        "number": found.number,
        "digest": found.digest,
        "title": found.title,
        "status": str(found.status),
        "input": found.input,
    }
    card = found.card or {}
    match card.get("type"):
        case "command":
            shown["command"] = {name: value for name, value in card.items() if name != "type"}
        case "edit":
            shown["change"] = {name: value for name, value in card.items() if name != "type"}
        case _:
            shown["questions"] = list(found.questions)
    return shown


def _respond(state: ConversationState, at: str, *, params: models.Respond, by: str, where: str) -> Decision | Refusal:
    said = Said(
        digest=params.digest,
        decision=params.decision,
        by=by,
        from_=where,
        at=at,
        scope=params.scope,
        option_id=params.option_id,
        reason=params.reason,
        answers=params.answers,
        input=params.input,
    )
    return respond.respond(state, params.request_id, said)


def _unknown(request_id: str) -> Refusal:
    return Refusal(Code.UNKNOWN_REQUEST, f"There is no request `{request_id}`.")


HANDLERS: Final[Mapping[str, Any]] = {
    "agent/request/list": list_,
    "agent/request/respond": answer,
    "agent/request/preview": preview,
}
