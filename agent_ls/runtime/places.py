"""Where a call of a conversation runs: root, working directory, environment, what was read."""

import os
from functools import partial

from agent_ls.core.delegation import bounded
from agent_ls.core.projection import ConversationState
from agent_ls.core.rules import Ground
from agent_ls.core.unread import Unread, unread
from agent_ls.ports.tools import ToolContext
from agent_ls.runtime.patience import patiently
from agent_ls.runtime.services import Services


def bare_context(root: str, services: Services) -> ToolContext:
    """For looking at a call that belongs to no conversation; nothing may be run in it."""
    return ToolContext(
        conversation_id="",
        item_id="",
        root=(real := os.path.realpath(root)),
        cwd=real,
        environment=services.environment(real),
        seen={},
        spool=services.spool,
        emit=lambda _: None,
        keep=services.ledger.put_blob,
    )


def tool_context(state: ConversationState, item_id: str, services: Services) -> ToolContext:
    """A call that was shown with a working directory keeps it, wherever the shell stands by now."""
    item = state.items.get(item_id)
    shown = item.call.cwd if item is not None else None
    allowed_by = item.call.decided_by if item is not None else None
    root = os.path.realpath(state.root)
    return ToolContext(
        conversation_id=state.conversation.id,
        item_id=item_id,
        root=root,
        cwd=shown or state.cwd or root,
        environment=services.environment(root),
        seen=state.seen,
        spool=services.spool,
        emit=partial(services.feed.output, state.conversation.id, item_id),
        keep=partial(_keep, services),
        unread=partial(_unread, state, root, services),
        masking=services.masking(),
        shown=allowed_by not in {None, "rule"},
        outside=item is not None and item.call.walled is not None,
    )


def _unread(state: ConversationState, root: str, services: Services) -> Unread:
    conversation = state.conversation
    if conversation.delegated is not None:
        conversation = bounded(conversation, services.subagents.above_here(conversation.delegated))
    rules = services.rules(conversation)
    return unread(rules, Ground(root, services.home, services.folds(root)), conversation.mode)


async def _keep(services: Services, content: bytes) -> str:
    """What a call has put out by now has happened: a full disk delays its result and does not change it."""
    return await patiently(partial(services.ledger.put_blob, content), services.clock)
