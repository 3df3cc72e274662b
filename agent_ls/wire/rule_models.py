"""Parameters of `agent/permission/*`.

Owns their shapes. What they have in common with all others is models.py's.
"""

from typing import Annotated, Literal, Self

from pydantic import StringConstraints, model_validator

from agent_ls.wire.models import Command, Id, Object, Params, Text, Uri

RuleText = Annotated[str, StringConstraints(min_length=1, max_length=10_100)]


class ListRules(Params):
    workspace: Uri | None = None
    conversation_id: Id | None = None


class ExplainPermission(Params):
    """What would happen to this call, and why; seen from a conversation, or from a workspace's defaults."""

    tool: Text
    input: Object
    workspace: Uri | None = None
    conversation_id: Id | None = None


class AddRule(Command):
    """Kept for one conversation, for you in one workspace, or for you everywhere."""

    rule: RuleText
    effect: Literal["allow", "ask", "deny"]
    scope: Literal["conversation", "workspace", "user"]
    workspace: Uri | None = None
    conversation_id: Id | None = None

    @model_validator(mode="after")
    def _placed(self) -> Self:
        if self.scope == "conversation" and self.conversation_id is None:
            raise ValueError("`conversationId` is missing; scope `conversation` needs it")
        if self.scope == "workspace" and self.workspace is None and self.conversation_id is None:
            raise ValueError("`workspace` is missing; scope `workspace` needs it")
        return self


class RemoveRule(Command):
    """One that `agent/permission/list` shows with an id."""

    rule_id: Id
