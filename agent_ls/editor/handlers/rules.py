"""`agent/permission/*`: which rules hold, what they would say, and those that a person keeps or takes back."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent_ls.core.conversation import Mode
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.kept_rules import Kept, place_of
from agent_ls.core.policy import judge
from agent_ls.core.projection import ConversationState
from agent_ls.core.rules import Rule, Ruling
from agent_ls.core.uris import path_of
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk
from agent_ls.editor.handlers.fingerprint import order, what
from agent_ls.editor.orders import DropRule, KeepRule
from agent_ls.editor.window import Window
from agent_ls.ports.rules import Said
from agent_ls.ports.tools import Invalid, ToolContext
from agent_ls.runtime.judging import Circumstances, change_of, circumstances, proposal
from agent_ls.runtime.places import bare_context, tool_context
from agent_ls.wire import rule_models


async def list_(desk: Desk, window: Window, params: rule_models.ListRules) -> Answer:
    found = await _rules(desk, params.conversation_id, params.workspace)
    return found if isinstance(found, Refusal) else {"rules": [_view(rule) for rule in found]}


async def explain(desk: Desk, window: Window, params: rule_models.ExplainPermission) -> Answer:
    """What would happen to this call. Nothing is run; the tool only looks at what it would touch."""
    asked = await _asked_in(desk, window, params)
    if isinstance(asked, Refusal):
        return asked
    context, where = asked
    await desk.services.toolbox.open(context.root)
    tool = desk.services.toolbox.get(params.tool, context.root)
    if tool is None:
        names = ", ".join(desk.services.toolbox.names(context.root))
        return Refusal(Code.INVALID_PARAMS, f"There is no tool `{params.tool}`.", f"The tools are: {names}.")
    prepared = await tool.prepare(params.input, context)
    if isinstance(prepared, Invalid):
        # A file that was not read yet, an edit that names no text: what is asked is what the rules say of the file.
        place = change_of(tool, params.input, context.root)
        if place is None:
            return {"effect": "deny", "reason": prepared.message}
        prepared = place
    verdict = judge(proposal(prepared, desk.services, where), where.rules)
    return {"effect": str(verdict.kind), "reason": verdict.reason or verdict.rule, "decidedBy": verdict.rule}


async def add(desk: Desk, window: Window, params: rule_models.AddRule) -> Answer:
    kept = Kept(effect=Ruling(params.effect), pattern=params.rule, by=desk.person, at=desk.services.clock.now())
    if params.scope == "conversation":
        assert params.conversation_id is not None
        return await desk.commands.run(order(params, params.conversation_id, KeepRule(kept=kept)))
    root = None if params.scope == "user" else await _root(desk, params)
    if isinstance(root, Refusal):
        return root
    return desk.kept_rules.add(root, kept, Said(params.command_id, what(params)))


async def remove(desk: Desk, window: Window, params: rule_models.RemoveRule) -> Answer:
    place = place_of(params.rule_id)
    if await desk.services.ledger.head(place) is not None:
        return await desk.commands.run(order(params, place, DropRule(rule_id=params.rule_id)))
    return desk.kept_rules.remove(params.rule_id, Said(params.command_id, what(params)))


async def _asked_in(
    desk: Desk, window: Window, params: rule_models.ExplainPermission
) -> tuple[ToolContext, Circumstances] | Refusal:
    """In the conversation that is named, else in a new one of the workspace."""
    rules = await _rules(desk, params.conversation_id, params.workspace)
    if isinstance(rules, Refusal):
        return rules
    state = await _state(desk, params.conversation_id)
    if state is not None:
        return tool_context(state, "explain", desk.services), await circumstances(state, desk.services)
    if params.workspace is None:
        return Refusal(Code.INVALID_PARAMS, "`workspace` or `conversationId` is missing.")
    context = bare_context(path_of(params.workspace), desk.services)
    return context, Circumstances(root=context.root, mode=Mode.ASK, trusted=window.trusted, rules=rules)


async def _root(desk: Desk, params: rule_models.AddRule) -> str | Refusal:
    workspace = params.workspace
    if workspace is None:
        found = await desk.registry.conversation(str(params.conversation_id))
        if isinstance(found, Refusal):
            return found
        workspace = found.workspace
    root = path_of(workspace)
    if not root:
        return Refusal(Code.INVALID_PARAMS, "`workspace` is no folder of this machine.", "Give its `file:` URI.")
    return root


async def _state(desk: Desk, conversation_id: str | None) -> ConversationState | None:
    state = None if conversation_id is None else await desk.registry.state(conversation_id)
    return None if isinstance(state, Refusal) else state


async def _rules(desk: Desk, conversation_id: str | None, workspace: str | None) -> Sequence[Rule] | Refusal:
    if conversation_id is None:
        return desk.workspace_rules(path_of(workspace or ""))
    found = await desk.registry.conversation(conversation_id)
    return found if isinstance(found, Refusal) else desk.services.rules(found)


def _view(rule: Rule) -> dict[str, Any]:
    view = {"effect": str(rule.verdict), "rule": rule.pattern, "scope": str(rule.scope), "origin": rule.origin}
    return view if rule.id is None else {"id": rule.id, **view}


HANDLERS: Final[Mapping[str, Any]] = {
    "agent/permission/list": list_,
    "agent/permission/explain": explain,
    "agent/permission/add": add,
    "agent/permission/remove": remove,
}
