"""`agent/request/*`: what waits for a person, their answer, and the whole of what it would allow."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from anyio import to_thread

from agent_ls.core import hunks
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.ids import conversation_of
from agent_ls.core.items import Call, Item
from agent_ls.core.request import Answer as Said
from agent_ls.core.request import Decision, Request, RequestKind
from agent_ls.core.textfile import printable
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk
from agent_ls.editor.handlers.fingerprint import order
from agent_ls.editor.orders import Reply
from agent_ls.editor.window import Window
from agent_ls.ports.tools import Invalid
from agent_ls.runtime.amend import amended, look
from agent_ls.runtime.payloads import whole_input
from agent_ls.wire import models
from agent_ls.wire.encode import to_wire


async def list_(desk: Desk, window: Window, params: models.ListRequests) -> Answer:
    if params.number is not None:
        one = await desk.services.ledger.request_by_number(params.number)
        return {"requests": [] if one is None else [to_wire(one)]}
    found = await desk.reading.requests(params.workspace, params.conversation_id)
    return {"requests": [to_wire(request) for request in found]}


async def answer(desk: Desk, window: Window, params: models.Respond) -> Answer:
    said = await _with_change(desk, _said(desk, window, params), params)
    if isinstance(said, Refusal):
        return said
    desk.inbox.answers(params.request_id, window)
    wish = Reply(request_id=params.request_id, said=said)
    answered = await desk.commands.run(order(params, conversation_of(params.request_id), wish))
    if isinstance(answered, Refusal) and answered.code is Code.NOT_FOUND:
        return _unknown(params.request_id)
    return answered


def _said(desk: Desk, window: Window, params: models.Respond) -> Said:
    return Said(
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


async def _with_change(desk: Desk, said: Said, params: models.Respond) -> Said | Refusal:
    """With the call as the person changed it. A command that comes again meets its receipt and needs none."""
    if said.input is None or said.decision is not Decision.ALLOW:
        return said
    if await desk.services.ledger.receipt(params.command_id) is not None:
        return said
    state = await desk.registry.state(conversation_of(params.request_id))
    request = None if isinstance(state, Refusal) else state.pending.get(params.request_id)
    if isinstance(state, Refusal) or request is None or request.kind is not RequestKind.APPROVAL:
        return said
    changed = await amended(state, request, said.input, services=desk.services)
    if isinstance(changed, Refusal):
        return changed
    return replace(said, input=None) if changed is None else replace(said, amended=changed)


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
        "input": await _whole_input(desk, found),
    }
    card = await _whole_card(desk, found)
    match card.get("type"):
        case "command":
            shown["command"] = {name: value for name, value in card.items() if name != "type"}
        case "edit":
            shown["change"] = {name: value for name, value in card.items() if name != "type"}
        case _:
            shown["questions"] = list(found.questions)
    return shown


async def _whole_input(desk: Desk, request: Request) -> dict[str, Any] | None:
    item = await desk.reading.entity(request.item_id)
    if not isinstance(item, Item) or not isinstance(item.payload, Call):
        return request.input
    return await whole_input(item.payload, desk.services.ledger.get_blob)


async def _whole_card(desk: Desk, request: Request) -> dict[str, Any]:
    """With both texts of an edit, however long: as its tool would make them now, if that is what waits."""
    card = request.card or {}
    shown = card.get("files") or [card]
    if card.get("type") != "edit" or not request.pending or all(None not in _texts(one).values() for one in shown):
        return card
    state = await desk.registry.state(request.conversation_id)
    given = await _whole_input(desk, request)
    if isinstance(state, Refusal) or given is None:
        return card
    prepared = await look(state, request, given, services=desk.services)
    if isinstance(prepared, Invalid) or prepared.digest != request.digest or prepared.record is None:
        return card
    records = await to_thread.run_sync(lambda kept: hunks.decode(kept()), prepared.record)
    whole = [
        {**one, "before": printable(hunks.before(record)), "after": printable(record.after or "")}
        for one, record in zip(prepared.card.get("files") or [prepared.card], records, strict=True)
    ]
    return {**prepared.card, "files": whole} if "files" in prepared.card else whole[0]


def _texts(card: Mapping[str, Any]) -> dict[str, str | None]:
    return {name: card.get(name) for name in ("before", "after")}


def _unknown(request_id: str) -> Refusal:
    return Refusal(Code.UNKNOWN_REQUEST, f"There is no request `{request_id}`.")


HANDLERS: Final[Mapping[str, Any]] = {
    "agent/request/list": list_,
    "agent/request/respond": answer,
    "agent/request/preview": preview,
}
