"""`agent/request/*`: what waits for a person, their answer, and the whole of what it would allow."""

from collections.abc import Mapping
from typing import Any, Final

from agent_ls.core.errors import Code, Refusal
from agent_ls.core.request import Answer as Said
from agent_ls.core.request import Request
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk
from agent_ls.editor.handlers.fingerprint import order
from agent_ls.editor.orders import Reply
from agent_ls.editor.window import Window
from agent_ls.wire import models
from agent_ls.wire.encode import to_wire


async def list_(desk: Desk, window: Window, params: models.ListRequests) -> Answer:
    if params.number is not None:
        one = await desk.services.ledger.request_by_number(params.number)
        return {"requests": [] if one is None else [to_wire(one)]}
    found = await desk.reading.requests(params.workspace, params.conversation_id)
    return {"requests": [to_wire(request) for request in found]}


async def answer(desk: Desk, window: Window, params: models.Respond) -> Answer:
    said = Said(
        digest=params.digest,
        decision=params.decision,
        by=desk.person,
        from_=window.client,
        at="",
        scope=params.scope,
        option_id=params.option_id,
        reason=params.reason,
        answers=params.answers,
        input=params.input,
    )
    wish = Reply(request_id=params.request_id, said=said)
    answered = await desk.commands.run(order(params, params.request_id.partition(".")[0], wish))
    if isinstance(answered, Refusal) and answered.code is Code.NOT_FOUND:
        return _unknown(params.request_id)
    return answered


async def preview(desk: Desk, window: Window, params: models.OfRequest) -> Answer:
    found = await desk.reading.entity(params.request_id)
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


def _unknown(request_id: str) -> Refusal:
    return Refusal(Code.UNKNOWN_REQUEST, f"There is no request `{request_id}`.")


HANDLERS: Final[Mapping[str, Any]] = {
    "agent/request/list": list_,
    "agent/request/respond": answer,
    "agent/request/preview": preview,
}
