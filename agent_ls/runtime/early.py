"""Quick reads of a reply, run before the reply is committed.

A call without effects needs no record before it runs, so a reply that only reads costs one commit with its results in
it. What is not done in a moment is left to the batch, which runs it in sight of everybody.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import anyio

from agent_ls.core import ids
from agent_ls.core.attempt import Attempt
from agent_ls.core.hooks import HookEvent
from agent_ls.core.items import ToolResult
from agent_ls.core.step import Triage, TriageVerdict
from agent_ls.ports.tools import Prepared, ToolEffect
from agent_ls.runtime import guard
from agent_ls.runtime.actor import Actor
from agent_ls.runtime.patience import patiently
from agent_ls.runtime.payloads import shrink_result
from agent_ls.runtime.places import tool_context
from agent_ls.runtime.services import Services

MOMENT_S: Final = 0.025


class EarlyReads:
    def __init__(self, actor: Actor, services: Services, prepared: Mapping[str, Prepared]) -> None:
        self._actor = actor
        self._services = services
        self._prepared = prepared

    async def run(self, attempt: Attempt, triage: Sequence[Triage]) -> Sequence[Triage]:
        """The same entries, with results where there are some. Only for replies in which every call reads."""
        if self._services.hooks.has(HookEvent.POST_TOOL):
            return triage  # a hook takes longer than a moment
        if not triage or not all(self._reads(attempt, entry) for entry in triage):
            return triage
        results: dict[int, ToolResult] = {}

        async def read(entry: Triage) -> None:
            results[entry.part] = await self._read(ids.part_id(attempt.step_id, entry.part))

        with anyio.move_on_after(MOMENT_S):
            if len(triage) == 1:
                await read(triage[0])
            else:
                async with anyio.create_task_group() as group:
                    for entry in triage:
                        group.start_soon(read, entry)
        return [replace(entry, result=results.get(entry.part)) for entry in triage]

    def _reads(self, attempt: Attempt, entry: Triage) -> bool:
        prepared = self._prepared.get(ids.part_id(attempt.step_id, entry.part))
        if entry.verdict is not TriageVerdict.ALLOW or prepared is None or prepared.apart:
            return False
        return prepared.effect is ToolEffect.READ

    async def _read(self, item_id: str) -> ToolResult:
        prepared = self._prepared[item_id]
        tool = self._services.toolbox.tools[prepared.tool]
        result = await guard.run(tool, prepared, tool_context(self._actor.state, item_id, self._services))
        result = self._services.masking().result(result)
        return await patiently(partial(shrink_result, result, self._services.ledger.put_blob), self._services.clock)
