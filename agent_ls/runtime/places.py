"""Where a call of a conversation runs: root, working directory, environment, what was read."""

import os
from functools import partial

from agent_ls.core.projection import ConversationState
from agent_ls.ports.tools import ToolContext
from agent_ls.runtime.services import Services


def tool_context(state: ConversationState, item_id: str, services: Services) -> ToolContext:
    root = os.path.realpath(state.root)
    return ToolContext(
        conversation_id=state.conversation.id,
        item_id=item_id,
        root=root,
        cwd=state.cwd or root,
        environment=services.environment(root),
        seen=state.seen,
        spool=services.spool,
        emit=partial(services.feed.output, state.conversation.id, item_id),
        keep=services.ledger.put_blob,
    )
