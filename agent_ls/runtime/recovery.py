"""Taking over what a dead daemon left: the ledger says what is missing, and only that is done again.

Owns the order: settle calls that had begun, say which text was dropped; then the driver goes on. The same path for a
crash, a restart and a conversation that was let go. The decisions are core.recovery's; what happened on disk or to a
process is the tool's to find out.
"""

from functools import partial

from agent_ls.core import delegation, recovery
from agent_ls.core.items import Item, ResultStatus, ToolResult
from agent_ls.ports.tools import Replay, Tool, delegates, spools
from agent_ls.runtime import equipment, guard
from agent_ls.runtime.actor import Actor
from agent_ls.runtime.patience import patiently, record_patiently
from agent_ls.runtime.places import tool_context
from agent_ls.runtime.services import Services


async def take_over(actor: Actor, services: Services) -> bool:
    """Settles what the ledger shows as begun and not ended. Before anything of this conversation is driven.

    Whether the model was heard meanwhile although nothing of it is on record.
    """
    for item in recovery.lost_calls(actor.state):
        await _settle(actor, item, services)
    return await _say_dropped(actor, services)


async def _settle(actor: Actor, item: Item, services: Services) -> None:
    tool = await equipment.find_again(actor.state.conversation, item.call.tool, services)
    result = await _result_of(actor, item, tool, services=services)
    if result is None:
        await record_patiently(actor, lambda s, at: recovery.start_again(s, item.id, at), services.clock)
        return
    number = await patiently(partial(services.ledger.reserve_numbers, 1), services.clock)
    await record_patiently(
        actor, lambda s, at: recovery.settle_lost(s, item.id, result, number=number, at=at), services.clock
    )
    if spools(tool):
        tool.forget(item.id, services.spool)


async def _result_of(actor: Actor, item: Item, tool: Tool | None, *, services: Services) -> ToolResult | None:
    """None: it is run again."""
    if tool is None:
        lost = "The daemon ended while this ran; whether it finished is not known."
        return ToolResult(status=ResultStatus.UNKNOWN, output=lost)
    stop = delegation.given_up(actor.state, item.id)
    if stop is not None and delegates(tool):
        await services.subagents.stop(item.id, stop)
        return ToolResult(status=ResultStatus.INTERRUPTED, output="The person stopped the run.")
    if tool.replay is Replay.SAFE:
        return None
    return await guard.find_out(tool, item.call, tool_context(actor.state, item.id, services))


async def _say_dropped(actor: Actor, services: Services) -> bool:
    partials = await patiently(partial(services.ledger.partials, actor.id), services.clock)
    text = "\n".join(said for item_id, said in partials.items() if item_id not in actor.state.items)
    if text:
        await record_patiently(actor, lambda s, at: recovery.drop_partial(s, text, at), services.clock)
    await patiently(partial(services.ledger.drop_partials, actor.id), services.clock)
    return bool(text)
