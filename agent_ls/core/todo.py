"""The run's list of steps, as the agent keeps it: one item a run, replaced as a whole.

Owns when it is added, updated and closed. What a step is: `{text, status: pending | active | done}`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from agent_ls.core import ids
from agent_ls.core.attempt import AttemptFact
from agent_ls.core.draft import Draft
from agent_ls.core.events import ItemFact
from agent_ls.core.items import Item, ItemKind, ItemStatus, ResultStatus, TodoList

STEPS: Final = "steps"
"""Name in the data of a result under which a tool hands over the new list."""

_CLOSED: Final[Mapping[AttemptFact, ItemStatus]] = {
    AttemptFact.COMPLETED: ItemStatus.COMPLETED,
    AttemptFact.INTERRUPTED: ItemStatus.INTERRUPTED,
    AttemptFact.FAILED: ItemStatus.FAILED,
}


def keep(draft: Draft, call: Item) -> None:
    """Takes over the list that a finished call came with, in the commit of its result."""
    result = call.call.result
    if result is None or result.status is not ResultStatus.OK or not isinstance((result.data or {}).get(STEPS), list):
        return
    steps: tuple[dict[str, Any], ...] = tuple((result.data or {})[STEPS])
    status = ItemStatus.COMPLETED if all(step["status"] == "done" for step in steps) else ItemStatus.RUNNING
    old = _find(draft, call.run_id)
    if old is None:
        item_id = ids.note_id(call.run_id, "todo", 1)
        draft.add_item(call.run_id, item_id, ItemKind.TODO_LIST, payload=TodoList(steps=steps), status=status)
        return
    draft.put(ItemFact.UPDATED, replace(old, payload=TodoList(steps=steps), status=status, updated_at=draft.at))


def close(draft: Draft, run_id: str, outcome: AttemptFact) -> None:
    """Nothing works on it any more; which steps were left open stays visible."""
    item = _find(draft, run_id)
    if item is not None and item.status is ItemStatus.RUNNING:
        draft.put(ItemFact.UPDATED, replace(item, status=_CLOSED[outcome], updated_at=draft.at))


def _find(draft: Draft, run_id: str) -> Item | None:
    return next((item for item in draft.run_items(run_id) if isinstance(item.payload, TodoList)), None)
