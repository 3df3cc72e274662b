"""A call that waits, read and judged anew: as the person changed it, or because a file has changed beneath it.

Owns that a changed call goes the whole way of a new one (the tool looks, policy judges, a new digest binds), whoever
changed it. Does not own what is decided (core.amend, core.respond).
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from agent_ls.core.errors import Code, Refusal
from agent_ls.core.hooks import HookEvent
from agent_ls.core.items import Call
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Amended, Request
from agent_ls.core.rules import Ruling
from agent_ls.ports.tools import Invalid, Prepared
from agent_ls.runtime import guard
from agent_ls.runtime.equipment import find_again
from agent_ls.runtime.hook_calls import ask
from agent_ls.runtime.judging import judged
from agent_ls.runtime.patience import patiently
from agent_ls.runtime.payloads import is_shortened, shrink_call, whole_input
from agent_ls.runtime.places import tool_context
from agent_ls.runtime.services import Services
from agent_ls.runtime.triage import refilled


async def amended(
    state: ConversationState, request: Request, given: Mapping[str, Any], *, services: Services
) -> Amended | Refusal | None:
    """The call of a pending approval with another input; None where it is the same."""
    call = state.items[request.item_id].call
    if given == await whole_input(call, services.ledger.get_blob):
        return None
    if call.input_blob is not None and is_shortened(given):
        return Refusal(
            Code.INVALID_PARAMS,
            "The changed call holds a text that was cut for display, so nothing was decided.",
            "`agent/request/preview` gives the whole input; change that.",
        )
    objected = await _objection(state, call.tool, given, services=services)
    if objected is not None:
        return Refusal(
            Code.PERMISSION_DENIED, f"The changed call may not run: {objected}", "Change it again, or deny it."
        )
    prepared = await look(state, request, given, services=services)
    if isinstance(prepared, Invalid):
        return Refusal(Code.INVALID_PARAMS, f"The changed call was not taken: {prepared.message}", "Change it again.")
    verdict = await judged(prepared, state, services)
    if verdict.kind is Ruling.DENY:
        return Refusal(
            Code.PERMISSION_DENIED, f"The changed call may not run: {verdict.reason}", "Change it again, or deny it."
        )
    return await bound(call, prepared, services)


async def look(
    state: ConversationState, request: Request, given: Mapping[str, Any], *, services: Services
) -> Prepared | Invalid:
    """What the tool says of this input. A person decides on what it shows, whatever changed elsewhere in its file."""
    tool = await find_again(state.conversation, state.items[request.item_id].call.tool, services)
    if tool is None:
        return Invalid("Its tool is not there any more.")
    return await guard.look(tool, given, replace(tool_context(state, request.item_id, services), shown=True))


async def bound(call: Call, prepared: Prepared, services: Services) -> Amended:
    """The call as the tool sees it now, ready for the ledger."""
    made = refilled(replace(call, input_blob=None), prepared)
    shrunk = await patiently(partial(shrink_call, made, services.ledger.put_blob), services.clock)
    return Amended(call=shrunk, title=prepared.title, card=prepared.card)


async def _objection(
    state: ConversationState, tool: str, given: Mapping[str, Any], *, services: Services
) -> str | None:
    """What a hook has against it. One that would change it further would run what nobody was shown."""
    answer = await ask(services, state.conversation, HookEvent.PRE_TOOL, said={"tool": tool, "input": dict(given)})
    if answer.refused is not None:
        return answer.refused
    return None if answer.input in (None, given) else "the hook pre_tool would change it further."
