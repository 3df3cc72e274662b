"""The end of a background shell, on record: when the model is told, and what the ledger owes no more.

Owns where the notice stands. What was sent to a model once is never changed by it: the notice comes after all that is
there, in the run that goes on, or between runs at the end of the last one.
"""

from agent_ls.core.draft import Decision, Draft
from agent_ls.core.effects import Effect, EffectType
from agent_ls.core.items import ItemKind, Notice
from agent_ls.core.projection import ConversationState
from agent_ls.core.shells import ENDED


def watch(item_id: str, conversation_id: str) -> Effect:
    """Owed from the result of the call until the notice of the end."""
    return Effect(item_id, conversation_id, EffectType.WATCH_SHELL)


def end(state: ConversationState, item_id: str, said: str, *, at: str) -> Decision | None:
    """None if that is on record already."""
    if item_id not in state.shells:
        return None
    draft = Draft(state, at)
    draft.settled.append(item_id)
    notice = Notice(code=ENDED, message=said)
    draft.add_item(_run_of_now(state, item_id), f"{item_id}.end", ItemKind.NOTICE, payload=notice, parent_id=item_id)
    return draft.done()


def _run_of_now(state: ConversationState, item_id: str) -> str:
    if state.active is not None:
        return state.active.id
    begun = [run for run in state.runs.values() if run.started_at is not None]
    newest = max(begun, key=lambda run: run.ordinal, default=None)
    return state.items[item_id].run_id if newest is None else newest.id
