"""What a conversation's model is told beyond its messages: which tools there are, and what holds here.

Owns which tools are there for which conversation, and which of them are offered. Does not own whether a call may run
(core.policy).
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from agent_ls.core.agents import Agent
from agent_ls.core.conversation import Conversation, Mode
from agent_ls.core.delegation import LEVELS, TASK, depth
from agent_ls.core.messages import ToolSpec
from agent_ls.core.prompt import DELEGATED, PLANNING
from agent_ls.core.uris import path_of
from agent_ls.ports.tools import Tool
from agent_ls.runtime.services import Services

_PLAN: Final = "plan"


async def specs(conversation: Conversation, services: Services) -> tuple[ToolSpec, ...]:
    root = _root(conversation)
    await services.toolbox.open(root)
    offered = services.toolbox.specs(root, conversation.model)
    found = [spec for spec in offered if _offered(conversation, spec.name)]
    if not any(spec.name == TASK for spec in found):
        return tuple(found)
    agents = await services.agents(conversation)
    return tuple(_with_agents(spec, agents) if spec.name == TASK and agents else spec for spec in found)


def names(conversation: Conversation, services: Services) -> list[str]:
    return [name for name in services.toolbox.names(_root(conversation)) if _offered(conversation, name)]


def find(conversation: Conversation, name: str, services: Services) -> Tool | None:
    """A plan that is proposed just after the mode has changed is one all the same."""
    return services.toolbox.get(name, _root(conversation)) if _there(conversation, name) else None


async def find_again(conversation: Conversation, name: str, services: Services) -> Tool | None:
    """The tool of a call that may be older than this daemon: what the workspace brings is brought up first."""
    await services.toolbox.open(_root(conversation))
    return services.toolbox.get(name, _root(conversation))


def instructions(conversation: Conversation) -> Sequence[str]:
    said = [PLANNING] if conversation.mode is Mode.PLAN and conversation.delegated is None else []
    if conversation.delegated is not None:
        said.append(DELEGATED)
        said += [conversation.delegated.instructions] if conversation.delegated.instructions else []
    return said


def _root(conversation: Conversation) -> str:
    """Whose tools are there beside our own; in a workspace that is not trusted nothing is started for it."""
    return os.path.realpath(path_of(conversation.workspace)) if conversation.trusted else ""


def _offered(conversation: Conversation, name: str) -> bool:
    return _there(conversation, name) and (name != _PLAN or conversation.mode is Mode.PLAN)


def _there(conversation: Conversation, name: str) -> bool:
    held = conversation.delegated
    if held is None:
        return True
    if name == _PLAN or (name == TASK and depth(conversation) >= LEVELS):
        return False
    return held.tools is None or name in held.tools


def _with_agents(spec: ToolSpec, agents: Mapping[str, Agent]) -> ToolSpec:
    listed = "\n".join(f"- {agent.name}: {agent.description}" for agent in sorted(agents.values(), key=_name))
    return replace(spec, description=f"{spec.description}\n\nNamed agents:\n{listed}")


def _name(agent: Agent) -> str:
    return agent.name
