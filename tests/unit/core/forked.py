"""A fork of a state as a reader of the ledger would have it, and what would be wrong with it."""

from agent_ls.core.context import join, messages
from agent_ls.core.fork import border, forked
from agent_ls.core.invariants import violations
from agent_ls.core.items import Item
from agent_ls.core.lineage import inherited
from agent_ls.core.messages import ModelMessage
from agent_ls.core.owed import Nothing, owed
from agent_ls.core.projection import ConversationState
from tests.unit.core.world import illegal


def fork_of(state: ConversationState, last: Item, command_id: str = "fork") -> ConversationState:
    made = forked(state.conversation, last, command_id, title=None, at=state.conversation.updated_at)
    everything = [*state.runs.values(), *state.attempts.values(), *state.items.values(), *state.requests.values()]
    return ConversationState.of([made, *inherited([(last.ord, everything)], made.id)], 1)


def faults(state: ConversationState) -> list[str]:
    """Of the fork that would be made of it now, at its last border."""
    items = sorted(state.items.values(), key=lambda item: item.ord)
    last = border(items, items[-1].ord) if items else None
    if last is None:
        return []
    fork = fork_of(state, last)
    found = violations(fork, live=False, unsettled=())
    if not isinstance(owed(fork), Nothing):
        found.append(f"it owes {owed(fork)}")
    if fork.pending or fork.queued or fork.shells:
        found.append("something waits in it")
    if fork.next_ordinal <= max((run.ordinal for run in fork.runs.values()), default=0):
        found.append("a run would be counted twice")
    mine = sent(fork)
    if mine != sent(state, last.ord):
        found.append("a model would be sent something else than before")
    return [*found, *illegal(mine)]


def sent(state: ConversationState, through: int | None = None) -> tuple[ModelMessage, ...]:
    end = state.next_ord if through is None else through
    kept = ([item for item in state.items_of(run) if item.ord <= end] for run in state.run_items)
    return join(messages(items, provider="p", model="m") for items in kept if items)
