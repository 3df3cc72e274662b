"""`agent/conversation/fork`, `mergeBack`: a conversation that goes on from another one, and what comes back of it."""

from collections.abc import Mapping
from typing import Any, Final

from agent_ls.core.errors import Code, Refusal
from agent_ls.core.merge_back import MergeBack, merged_through, outcome
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk
from agent_ls.editor.handlers.conversation import conversed
from agent_ls.editor.handlers.fingerprint import order, what
from agent_ls.editor.window import Window
from agent_ls.runtime import forks
from agent_ls.runtime.forks import Point
from agent_ls.wire import fork_models

_NO_CHECKPOINTS: Final = Refusal(
    Code.UNSUPPORTED,
    "A fork at a checkpoint is not possible in this version.",
    "Fork at the run that the checkpoint was made of: `at: {runId}`.",
)


async def fork(desk: Desk, window: Window, params: fork_models.ForkConversation) -> Answer:
    at = params.at
    if at is not None and at.checkpoint_id is not None:
        return _NO_CHECKPOINTS
    point = Point() if at is None else Point(run_id=at.run_id, item_id=at.item_id)
    made = await forks.make(
        desk.registry,
        params.command_id,
        params.conversation_id,
        point=point,
        title=params.title,
        may_auto=desk.services.may_auto,
        what=what(params),
    )
    return made if isinstance(made, Refusal) else await conversed(desk, made["conversationId"], made["seq"])


async def merge_back(desk: Desk, window: Window, params: fork_models.MergeBack) -> Answer:
    """A command that comes again meets its receipt; the fork is not looked at again."""
    wish: MergeBack | Refusal = MergeBack(from_id=params.from_, text="", omitted=(), after=0, through=0)
    if await desk.services.ledger.receipt(params.command_id) is None:
        wish = await _outcome(desk, params)
    return wish if isinstance(wish, Refusal) else await desk.commands.run(order(params, params.into, wish))


async def _outcome(desk: Desk, params: fork_models.MergeBack) -> MergeBack | Refusal:
    parent = await desk.registry.state(params.into)
    if isinstance(parent, Refusal):
        return parent
    fork = await desk.registry.state(params.from_)
    if isinstance(fork, Refusal):
        return fork
    return outcome(fork, into=params.into, after=merged_through(parent, params.from_))


HANDLERS: Final[Mapping[str, Any]] = {
    "agent/conversation/fork": fork,
    "agent/conversation/mergeBack": merge_back,
}
