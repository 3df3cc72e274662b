"""`agent/permission/*`: which rules hold and what they would say."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent_ls.core.conversation import Mode
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.policy import judge
from agent_ls.core.projection import ConversationState
from agent_ls.core.rules import Rule
from agent_ls.core.uris import path_of
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk
from agent_ls.editor.window import Window
from agent_ls.ports.tools import Invalid
from agent_ls.runtime.places import bare_context, tool_context
from agent_ls.runtime.triage import proposal
from agent_ls.wire import models


async def list_(desk: Desk, window: Window, params: models.ListRules) -> Answer:
    found = await _rules(desk, params.conversation_id, params.workspace)
    return found if isinstance(found, Refusal) else {"rules": [_view(rule) for rule in found]}


async def explain(desk: Desk, window: Window, params: models.ExplainPermission) -> Answer:
    """What would happen to this call. Nothing is run; the tool only looks at what it would touch."""
    rules = await _rules(desk, params.conversation_id, params.workspace)
    if isinstance(rules, Refusal):
        return rules
    state = await _state(desk, params.conversation_id)
    if state is not None:
        context, held = tool_context(state, "explain", desk.services), state.conversation
        mode, trusted = held.mode, held.trusted
    elif params.workspace is not None:
        context, mode, trusted = bare_context(path_of(params.workspace), desk.services), Mode.ASK, window.trusted
    else:
        return Refusal(Code.INVALID_PARAMS, "`workspace` or `conversationId` is missing.")
    await desk.services.toolbox.open(context.root)
    tool = desk.services.toolbox.get(params.tool, context.root)
    if tool is None:
        names = ", ".join(desk.services.toolbox.names(context.root))
        return Refusal(Code.INVALID_PARAMS, f"There is no tool `{params.tool}`.", f"The tools are: {names}.")
    prepared = await tool.prepare(params.input, context)
    if isinstance(prepared, Invalid):
        return {"effect": "deny", "reason": prepared.message}
    proposed = proposal(prepared, desk.services, root=context.root, mode=mode, trusted=trusted)
    verdict = judge(proposed, rules)
    return {"effect": str(verdict.kind), "reason": verdict.reason or verdict.rule, "decidedBy": verdict.rule}


async def _state(desk: Desk, conversation_id: str | None) -> ConversationState | None:
    state = None if conversation_id is None else await desk.registry.state(conversation_id)
    return None if isinstance(state, Refusal) else state


async def _rules(desk: Desk, conversation_id: str | None, workspace: str | None) -> Sequence[Rule] | Refusal:
    if conversation_id is None:
        return desk.workspace_rules(path_of(workspace or ""))
    found = await desk.registry.conversation(conversation_id)
    return found if isinstance(found, Refusal) else desk.services.rules(found)


def _view(rule: Rule) -> dict[str, Any]:
    return {"effect": str(rule.verdict), "rule": rule.pattern, "scope": str(rule.scope), "origin": rule.origin}


HANDLERS: Final[Mapping[str, Any]] = {
    "agent/permission/list": list_,
    "agent/permission/explain": explain,
}
