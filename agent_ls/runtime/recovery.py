"""Taking over what a dead daemon left: the ledger says what is missing, and only that is done again.

Owns the order: claim, settle calls that had begun, say which text was dropped, wake the driver. The decisions are
core.recovery's; what happened on disk or to a process is the tool's to find out.
"""

import logging

import anyio

from agent_ls.core import recovery
from agent_ls.core.errors import Refusal
from agent_ls.core.items import Item, ResultStatus, ToolResult
from agent_ls.ports.tools import Replay
from agent_ls.runtime.actor import Actor
from agent_ls.runtime.patience import record_patiently
from agent_ls.runtime.places import tool_context
from agent_ls.runtime.registry import Registry
from agent_ls.runtime.services import Services

log = logging.getLogger(__name__)


async def recover_all(registry: Registry) -> int:
    """Recovers every conversation that owes something; returns how many there were."""
    owed = await registry.services.ledger.owed()
    found = list(dict.fromkeys(effect.conversation_id for effect in owed))
    async with anyio.create_task_group() as group:
        for conversation_id in found:
            group.start_soon(_recover, registry, conversation_id)
    return len(found)


async def _recover(registry: Registry, conversation_id: str) -> None:
    actor = await registry.actor(conversation_id)
    if isinstance(actor, Refusal):
        log.warning("cannot recover %s: %s", conversation_id, actor.code)
        return
    services = registry.services
    for item in recovery.lost_calls(actor.state):
        await _settle(actor, item, services)
    await _say_dropped(actor, services)
    driver = registry.driver(conversation_id)
    if driver is not None:
        driver.wake()


async def _settle(actor: Actor, item: Item, services: Services) -> None:
    tool = services.toolbox.get(item.call.tool)
    result: ToolResult | None = ToolResult(
        status=ResultStatus.UNKNOWN, output="The daemon ended while this ran; whether it finished is not known."
    )
    if tool is not None:
        if tool.replay is Replay.SAFE:
            result = None
        else:
            outcome = await tool.recover(item.call, tool_context(actor.state, item.id, services))
            result = outcome.result
    if result is None:
        await record_patiently(actor, lambda s, at: recovery.start_again(s, item.id, at), services.clock)
        return
    number = await services.ledger.reserve_numbers(1)
    settled = result
    await record_patiently(
        actor, lambda s, at: recovery.settle_lost(s, item.id, settled, number=number, at=at), services.clock
    )


async def _say_dropped(actor: Actor, services: Services) -> None:
    partials = await services.ledger.partials(actor.id)
    text = "\n".join(said for item_id, said in partials.items() if item_id not in actor.state.items)
    if text:
        await record_patiently(actor, lambda s, at: recovery.drop_partial(s, text, at), services.clock)
    await services.ledger.drop_partials(actor.id)
