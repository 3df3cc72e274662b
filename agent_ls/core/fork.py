"""A fork: a conversation that goes on from a place of another one.

Owns at which places a history may be taken up, and what the new conversation is at first. Pure, and it needs to see a
window of the transcript only: what lies far before the place does not matter. Does not own what comes along
(lineage.py), nor who reads the window (runtime.forks).

A border is a place after which no answer is cut in two: a model's answer, its calls and their results stay together,
and nothing before it is still going on.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from agent_ls.core import ids
from agent_ls.core.conversation import FORK, Conversation, Forked, Mode
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.items import AssistantMessage, Item, ItemKind, ItemStatus
from agent_ls.core.rules import Ruling

_NUMBERED: Final = re.compile(r"^(.*\S) \(fork(?: (\d{1,6}))?\)$", re.DOTALL)
_INSIDE: Final = "This item is inside of an answer: calls and their results belong together and are not cut apart."
_GOING: Final = "This item is still going on, so nothing can be gone on from it yet."
_OPEN: Final = frozenset({ItemStatus.PENDING, ItemStatus.RUNNING})


def border(window: Sequence[Item], ord_: int) -> Item | None:
    """The last item at or before a place after which a fork may begin; None if this window does not tell.

    It has to show whether more comes after the place, and the whole of the answer that ends there.
    """
    while before := [item for item in window if item.ord <= ord_]:
        start = _begins(window, before)
        if start is None:
            last = _last_step(before)
            return None if last is not None and _same_step(last, window[0]) else before[-1]
        ord_ = start - 1
    return None


def refused(window: Sequence[Item], item: Item) -> Refusal | None:
    """Why a fork cannot begin after this item, and where it can."""
    before = border(window, item.ord)
    if before is not None and before.id == item.id:
        return None
    places = [] if before is None else [f"`{before.id}`, right before"]
    step = [each for each in window if item.step_id is not None and each.step_id == item.step_id]
    if step and (after := border(window, step[-1].ord)) is not None and after.ord > item.ord:
        places.append(f"`{after.id}`, where it ends")
    return Refusal(
        Code.INVALID_PARAMS,
        _GOING if item.status in _OPEN else _INSIDE,
        f"Fork at {' or at '.join(places)}." if places else "Fork at an item before this answer, or at a run.",
    )


def last_text(window: Iterable[Item], through: int) -> str:
    """The last answer up to a place, as far as the window shows one."""
    said = [item.payload.text for item in window if item.ord <= through and isinstance(item.payload, AssistantMessage)]
    return next((text for text in reversed(said) if text.strip()), "")


def forked(parent: Conversation, last: Item | None, command_id: str, *, title: str | None, at: str) -> Conversation:
    """What a person allowed in the parent was for the parent; what they forbade there holds here as well."""
    name = (title or "").strip() or next_title(parent.title)
    origin = parent.id if parent.forked_from is None else parent.forked_from.origin
    return replace(
        parent,
        id=ids.conversation_id(command_id),
        title=name,
        created_at=at,
        updated_at=at,
        queue_held=False,
        archived=False,
        parent_id=parent.id,
        relation=FORK,
        delegated=None,
        compacting=None,
        rules=tuple(rule for rule in parent.rules if rule.get("verdict") != Ruling.ALLOW),
        forked_from=Forked(
            conversation_id=parent.id,
            title=parent.title,
            through=0 if last is None else last.ord,
            item_id=None if last is None else last.id,
            run_id=None if last is None else last.run_id,
            origin=origin,
        ),
    )


def without_auto(conversation: Conversation) -> Conversation:
    """Where the person's configuration does not allow it, it was allowed for the parent alone."""
    return replace(conversation, mode=Mode.ASK) if conversation.mode is Mode.AUTO else conversation


def next_title(title: str) -> str:
    """`Fix it` -> `Fix it (fork)` -> `Fix it (fork 2)`. One without a title is named by its first message."""
    if not title.strip():
        return ""
    found = _NUMBERED.match(title)
    return f"{title} (fork)" if found is None else f"{found[1]} (fork {int(found[2] or 1) + 1})"


def _begins(window: Sequence[Item], before: Sequence[Item]) -> int | None:
    """Where the thing begins that a cut after these items would cut in two; None if there is none."""
    # A list of steps is shown as open as long as its run goes on, and is no part of an answer.
    going = next((item for item in before if item.status in _OPEN and item.kind is not ItemKind.TODO_LIST), None)
    if going is not None:
        return min(item.ord for item in window if item is going or _same_step(item, going))
    last = _last_step(before)
    after = next((item for item in window if item.ord > before[-1].ord and item.step_id is not None), None)
    if last is None or after is None or not _same_step(last, after):
        return None
    return min(item.ord for item in window if _same_step(item, last))


def _last_step(before: Sequence[Item]) -> Item | None:
    return next((item for item in reversed(before) if item.step_id is not None), None)


def _same_step(one: Item, other: Item) -> bool:
    return one.step_id is not None and one.step_id == other.step_id
