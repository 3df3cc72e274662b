"""The wish to compact a conversation: noted, carried out or given up; one at a time.

Owns when it is taken and how it ends without a compaction. What is compacted, and how, is compaction.py's.
"""

from dataclasses import dataclass, replace
from typing import Final

from agent_ls.core import effects, ids
from agent_ls.core.conversation import Compacting
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import ConversationFact
from agent_ls.core.items import Item, ItemKind, Notice
from agent_ls.core.projection import ConversationState
from agent_ls.core.start import start_next

STOPPED: Final = "compaction_stopped"


@dataclass(frozen=True, kw_only=True)
class Compact:
    """The person's wish; `instructions` say what the summary must not leave out."""

    by: str
    from_: str
    instructions: str | None = None


def note(state: ConversationState, wish: Compact, at: str) -> Decision | Refusal:
    """Taken: done at the next step border of the run that goes on, or now where none does."""
    if state.conversation.compacting is not None:
        message = "This conversation is being compacted already."
        return Refusal(Code.CONVERSATION_BUSY, message, "Wait until it is done, or stop it.")
    if not any(item.step_id is not None and item.ord >= state.kept_from for item in state.items.values()):
        message = "There is nothing to compact in this conversation yet."
        return Refusal(Code.INVALID_PARAMS, message, "It shortens what the agent has said and done so far.")
    draft = Draft(state, at)
    noted = ids.compacting_id(state.conversation.id, draft.next_seq)
    held = Compacting(id=noted, by=wish.by, from_=wish.from_, at=at, instructions=wish.instructions)
    draft.put(ConversationFact.COMPACTION_NOTED, replace(draft.conversation, compacting=held, updated_at=at))
    draft.effects.append(effects.compact(noted, state.conversation.id))
    return draft.done()


def end(draft: Draft) -> None:
    """Nobody wants it any more, or it is done: what waited for it starts."""
    wish = draft.conversation.compacting
    if wish is None:
        return
    draft.put(ConversationFact.COMPACTION_OVER, replace(draft.conversation, compacting=None, updated_at=draft.at))
    draft.settled.append(wish.id)
    if draft.state.active is None:
        start_next(draft)


def give_up(state: ConversationState, notice: Notice | None, at: str, *, wish_id: str | None = None) -> Decision | None:
    """`notice` says why, in the run that goes on or the newest one. None if the wish `wish_id` is over."""
    held = state.conversation.compacting
    if wish_id is not None and (held is None or held.id != wish_id):
        return None
    draft = Draft(state, at)
    if notice is not None:
        say(draft, notice)
    if wish_id is not None:
        end(draft)
    return draft.done()


def say(draft: Draft, notice: Notice) -> Item | None:
    run_id = home(draft.state)
    if run_id is None:
        return None
    return draft.add_item(run_id, draft.fresh_note_id(run_id, "n"), ItemKind.NOTICE, payload=notice)


def home(state: ConversationState) -> str | None:
    """The run under which a compaction is shown: the one that goes on, else the last that has begun."""
    if state.active is not None:
        return state.active.id
    begun = [run for run in state.runs.values() if run.id in state.run_items]
    return max(begun, key=lambda run: run.ordinal).id if begun else None
