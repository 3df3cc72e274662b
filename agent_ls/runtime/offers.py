"""What a conversation's model is told beyond its messages: which tools there are, and what holds here.

Owns which tools are offered in which conversation. Does not own whether a call may run (core.policy): a tool that is
not offered to a conversation is not there for it.
"""

from collections.abc import Sequence
from typing import Final

from agent_ls.core.conversation import Conversation, Mode
from agent_ls.core.messages import ToolSpec
from agent_ls.core.prompt import PLANNING
from agent_ls.runtime.services import Services

_PLAN: Final = "plan"


def specs(conversation: Conversation, services: Services) -> tuple[ToolSpec, ...]:
    return tuple(spec for spec in services.toolbox.specs() if _offered(conversation, spec.name))


def instructions(conversation: Conversation) -> Sequence[str]:
    return [PLANNING] if conversation.mode is Mode.PLAN else []


def _offered(conversation: Conversation, name: str) -> bool:
    return name != _PLAN or conversation.mode is Mode.PLAN
