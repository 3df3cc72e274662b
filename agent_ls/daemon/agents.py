"""Which agents a subagent can be: the person's own, and those of a workspace that is trusted.

Owns the folders and their order. Does not own the files (adapters.host.agent_files) nor what they say (core.agents).
"""

import os
from collections.abc import Mapping
from functools import partial
from typing import Final

from anyio import to_thread

from agent_ls.adapters.host.agent_files import AgentFiles
from agent_ls.core.agents import Agent
from agent_ls.core.conversation import Conversation
from agent_ls.core.uris import path_of

FOLDER: Final = ".agents/agents"


async def known_agents(files: AgentFiles, home: str, conversation: Conversation) -> Mapping[str, Agent]:
    """The person's own come first: a workspace cannot take the place of one."""
    folders = [os.path.join(home, FOLDER)]
    root = path_of(conversation.workspace)
    if conversation.trusted and root:
        folders.append(os.path.join(root, FOLDER))
    # Asked before each request to a model, and most people have none: a thread would cost more than the rest of it.
    there = [folder for folder in folders if os.path.isdir(folder)]
    return await to_thread.run_sync(partial(files.agents, there)) if there else {}
