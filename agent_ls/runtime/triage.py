"""Triage: each call of a reply is read, prepared and judged before anything runs.

Owns the way from a model's words to a call that may run, has to be asked for, is denied or makes no sense. The rules
themselves are core.policy; what a call would touch is the tool's to say.
"""

import json
import math
from dataclasses import replace
from functools import partial
from typing import Any

import anyio

from agent_ls.core import ids, plans
from agent_ls.core.attempt import Attempt
from agent_ls.core.items import Call, ItemKind
from agent_ls.core.messages import CallPart, Reply, Stop
from agent_ls.core.nesting import DEEPEST, too_deep
from agent_ls.core.offers import offers
from agent_ls.core.policy import judge
from agent_ls.core.step import Triage, TriageVerdict
from agent_ls.ports.tools import Invalid, Prepared, Tool
from agent_ls.runtime import equipment, guard
from agent_ls.runtime.actor import Actor
from agent_ls.runtime.hook_calls import HookCalls
from agent_ls.runtime.judging import Circumstances, circumstances, proposal
from agent_ls.runtime.patience import patiently
from agent_ls.runtime.payloads import shorten_call, shrink_call
from agent_ls.runtime.places import tool_context
from agent_ls.runtime.services import Services


class Triager:
    def __init__(self, actor: Actor, services: Services) -> None:
        self._actor = actor
        self._services = services
        self.hooks = HookCalls(actor, services)
        self.prepared: dict[str, Prepared] = {}

    async def judge(self, attempt: Attempt, reply: Reply) -> list[Triage]:
        """One entry for each call of the reply, in call order, numbers of requests included."""
        self.prepared.clear()
        judged: dict[int, Triage] = {}

        async def look(index: int, part: CallPart) -> None:
            cut = reply.stop is Stop.MAX_TOKENS and index == len(reply.parts) - 1
            judged[index] = await self._one(attempt, index, part=part, cut=cut)

        made = [(index, part) for index, part in enumerate(reply.parts) if isinstance(part, CallPart)]
        if len(made) == 1:
            await look(*made[0])
        elif made:
            async with anyio.create_task_group() as group:
                for index, part in made:
                    group.start_soon(look, index, part)
        found = [judged[index] for index in sorted(judged)]
        asked = sum(1 for entry in found if entry.verdict is TriageVerdict.ASK)
        if not asked:
            return found
        first = await patiently(partial(self._services.ledger.reserve_numbers, asked), self._services.clock)
        numbers = iter(range(first, first + asked))
        return [replace(e, number=next(numbers)) if e.verdict is TriageVerdict.ASK else e for e in found]

    async def _one(self, attempt: Attempt, index: int, *, part: CallPart, cut: bool) -> Triage:
        conversation = self._actor.state.conversation
        tool = equipment.find(conversation, part.name, self._services)
        arguments = parse_arguments(part.arguments)
        call = Call(
            call_id="",
            tool=part.name[:128],
            input=arguments if isinstance(arguments, dict) else {},
            native_id=part.id[:200] or None,
            raw_arguments=part.arguments[:2000],
        )
        if tool is None:
            return self._invalid(index, call, self._unknown(part.name))
        if isinstance(arguments, str):
            reason = "they were cut off at the model's output limit; make the call smaller" if cut else arguments
            return self._invalid(
                index, call, f"The arguments of `{tool.name}` could not be used: {reason}.", kind=tool.kind
            )
        hooked = await self.hooks.before_call(tool.name, arguments)
        if isinstance(hooked, str):
            denied, rule = TriageVerdict.DENY, "hook pre_tool"
            return Triage(part=index, kind=tool.kind, call=shorten_call(call), verdict=denied, rule=rule, text=hooked)
        arguments = hooked
        item_id = ids.part_id(attempt.step_id, index)
        context = tool_context(self._actor.state, item_id, self._services)
        prepared = await guard.look(tool, arguments, context)
        if isinstance(prepared, Invalid):
            return self._invalid(index, call, prepared.message, kind=tool.kind)
        self.prepared[item_id] = prepared
        shrink = partial(shrink_call, filled(call, prepared, tool), self._services.ledger.put_blob)
        shrunk = await patiently(shrink, self._services.clock)
        # Looked up last: a hook may have taken its time, and the person may have changed their mind meanwhile.
        where = await circumstances(self._actor.state, self._services)
        entry = self._judged(index, shrunk, prepared=prepared, tool=tool, where=where)
        return await self.hooks.before_request(entry)

    def _judged(self, index: int, call: Call, *, prepared: Prepared, tool: Tool, where: Circumstances) -> Triage:
        proposed = proposal(prepared, self._services, where)
        verdict = judge(proposed, where.rules)
        kind, more = TriageVerdict(verdict.kind), dict[str, Any]()
        if prepared.questions and kind is not TriageVerdict.DENY:
            kind, more = TriageVerdict.ASK, {"title": prepared.title, "questions": prepared.questions}
        elif prepared.plan is not None and kind is not TriageVerdict.DENY:
            kind = TriageVerdict.ASK
            more = {"title": prepared.title, "plan": prepared.plan, "options": plans.OPTIONS}
        elif kind is TriageVerdict.ASK:
            more = {"title": prepared.title, "card": prepared.card, "options": offers(proposed, where.rules)}
        return Triage(
            part=index,
            kind=tool.kind,
            call=call,
            verdict=kind,
            rule=verdict.rule,
            text=verdict.reason,
            **more,
        )

    def _invalid(self, index: int, call: Call, text: str, *, kind: ItemKind = ItemKind.TOOL_CALL) -> Triage:
        return Triage(part=index, kind=kind, call=shorten_call(call), verdict=TriageVerdict.INVALID, text=text)

    def _unknown(self, name: str) -> str:
        offered = ", ".join(equipment.names(self._actor.state.conversation, self._services))
        return f"There is no tool `{name[:80]}`. The tools are: {offered}."


def parse_arguments(text: str) -> dict[str, Any] | str:
    """The object that a model wrote, `{}` for nothing at all, or a reason why it cannot be used."""
    if not text.strip():
        return {}
    try:
        value = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        return "they are not valid JSON"
    if not isinstance(value, dict):
        return "they have to be a JSON object"
    if too_deep(value):
        return f"they are nested more than {DEEPEST} levels deep"
    return value


def _finite(text: str) -> float:
    """Python reads `NaN` and `1e999`, which no JSON can hold when it is sent on."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def filled(call: Call, prepared: Prepared, tool: Tool) -> Call:
    return refilled(replace(call, tool=tool.name, replay=str(tool.replay), raw_arguments=None), prepared)


def refilled(call: Call, prepared: Prepared) -> Call:
    """With what its tool says of it now."""
    return replace(
        call,
        input=prepared.input,
        title=prepared.title,
        uri=prepared.uri,
        diff=prepared.diff,
        cwd=prepared.card.get("cwd"),
        keys=prepared.keys,
        effect=str(prepared.effect),
        digest=prepared.digest,
        before=prepared.before,
        after=prepared.after,
    )
