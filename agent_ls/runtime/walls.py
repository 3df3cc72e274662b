"""Commands that their sandbox made fail: looked at as they would run outside, judged, and the person is asked.

Owns the way from such a result to the request. What is decided and stored is core.walls; a call that is allowed is
owed again and runs by the batch like any other.
"""

from dataclasses import replace
from functools import partial

from agent_ls.core import walls
from agent_ls.core.call import kept_in
from agent_ls.core.items import Item, ToolResult
from agent_ls.core.rules import Ruling
from agent_ls.ports.tools import Invalid, Tool, ToolContext
from agent_ls.runtime import guard
from agent_ls.runtime.actor import Actor
from agent_ls.runtime.amend import bound
from agent_ls.runtime.hook_calls import HookCalls
from agent_ls.runtime.judging import judged
from agent_ls.runtime.patience import patiently, record_patiently
from agent_ls.runtime.payloads import shrink_result, whole_input
from agent_ls.runtime.services import Services


class Walls:
    def __init__(self, actor: Actor, services: Services, hooks: HookCalls) -> None:
        self._actor = actor
        self._services = services
        self._hooks = hooks

    async def hold(self, item: Item, tool: Tool, *, context: ToolContext, result: ToolResult) -> ToolResult | None:
        """None: it is held back, and the person is asked. Else the result to go on with, and why nobody was asked."""
        if walls.asks_nobody(self._actor.state, item):
            return result
        services = self._services
        given = await patiently(partial(whole_input, item.call, services.ledger.get_blob), services.clock)
        if given is None:
            return kept_in(result, "Its input is no longer there.")
        # Where it ran it would run again, wherever it has left its shell.
        where = replace(context, cwd=item.call.cwd or context.cwd, outside=True, shown=True)
        outside = await guard.look(tool, given, where)
        if isinstance(outside, Invalid):
            return kept_in(result, outside.message)
        verdict = await judged(outside, self._actor.state, services)
        if verdict.kind is not Ruling.ASK:
            return kept_in(result, verdict.reason)
        amended = await bound(item.call, outside, services)
        if walls.refused_before(self._actor.state, amended.call, item.run_id):
            return kept_in(result, walls.REFUSED_BEFORE)
        if refused := await self._hooks.against(item.call, amended.title):
            return kept_in(result, refused)
        number = await patiently(partial(services.ledger.reserve_numbers, 1), services.clock)
        held = await patiently(
            partial(shrink_result, services.masking().result(result), services.ledger.put_blob), services.clock
        )
        asked = await record_patiently(
            self._actor,
            lambda state, at: walls.hold(state, item.id, held, outside=amended, number=number, at=at),
            services.clock,
        )
        return None if asked else result
