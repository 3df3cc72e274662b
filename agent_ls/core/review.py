"""What a person has decided on hunks of applied edits.

Owns the marks and that they are facts of the item whose call made the change. Does not own where a hunk stands in its
file (hunks.py) nor that it is taken back there (runtime.review): what is marked as undone is undone already.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from agent_ls.core import call as calls
from agent_ls.core.call import CallFact
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.items import Call, Item, ResultStatus
from agent_ls.core.projection import ConversationState

_MADE = frozenset({ResultStatus.OK, ResultStatus.UNKNOWN, ResultStatus.INTERRUPTED})


class Mark(StrEnum):
    KEPT = "kept"
    UNDONE = "undone"


@dataclass(frozen=True, kw_only=True)
class Review:
    """`marks`: by item, by number of the hunk in its call (from 1, over all its files). `said` is the answer."""

    marks: dict[str, dict[str, Mark]]
    said: dict[str, Any] = field(default_factory=dict)


def reviewable(items: Iterable[Item]) -> list[Item]:
    """Calls that have changed files, or may have, in the order in which they stand."""
    return [item for item in items if isinstance(item.payload, Call) and _changed_files(item.payload)]


def review(state: ConversationState, wish: Review, at: str) -> Decision | Refusal:
    draft = Draft(state, at)
    for item_id, marks in wish.marks.items():
        item = state.items.get(item_id)
        if item is None or not isinstance(item.payload, Call) or not _changed_files(item.payload):
            return Refusal(Code.NOT_FOUND, f"There is no change `{item_id[:80]}` in this conversation.")
        reviewed = {**(item.payload.reviewed or {}), **{number: str(mark) for number, mark in marks.items()}}
        if reviewed != item.payload.reviewed:
            # Not at this moment: by it a successor tells which of several results about one file was the last.
            moment = item.updated_at or draft.at
            draft.put(CallFact.REVIEWED, calls.evolve(item, CallFact.REVIEWED, moment, reviewed=reviewed))
    return draft.done(**wish.said)


def _changed_files(call: Call) -> bool:
    return call.record is not None and call.result is not None and call.result.status in _MADE
