"""Making a fork: finds the place in the parent's transcript, and begins the new conversation there in one commit.

Owns what is read for it: a window of the transcript around the place, never the history, and no claim on the parent,
whoever holds that one. Does not own which places there are (core.fork) nor what the fork then has (core.lineage).
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from agent_ls.core import delegation, fork, ids
from agent_ls.core.conversation import Conversation
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import ConversationFact
from agent_ls.core.items import Item
from agent_ls.core.lineage import Base
from agent_ls.core.projection import ConversationState
from agent_ls.core.run import Run, RunStatus
from agent_ls.ports.ledger import Ledger, cursor_at
from agent_ls.runtime.actor import answer_of
from agent_ls.runtime.registry import Registry

WINDOW: Final = 48
_NOT_BEGUN: Final = frozenset({RunStatus.QUEUED, RunStatus.CANCELLED})


@dataclass(frozen=True, kw_only=True)
class Point:
    """After which item or run; after all that is there where it says nothing."""

    run_id: str | None = None
    item_id: str | None = None


@dataclass(frozen=True)
class Place:
    """After this item; None where nothing was said yet. `text` is the last answer up to there."""

    last: Item | None
    text: str = ""


async def make(
    registry: Registry,
    command_id: str,
    parent_id: str,
    *,
    point: Point,
    title: str | None,
    may_auto: bool,
    what: str = "",
) -> dict[str, Any] | Refusal:
    """`{conversationId, seq}`; the id follows from the command id, and the same command gives the same answer."""
    ledger, known = registry.services.ledger, ids.conversation_id(command_id)
    # Before anything is looked at: the parent may have gone on since, or be gone.
    if (receipt := await ledger.receipt(command_id)) is not None:
        return answer_of(receipt, known, what)
    head = await ledger.head(parent_id)
    parent = next((each for each in head.entities if isinstance(each, Conversation)), None) if head else None
    if parent is None:
        return Refusal(Code.NOT_FOUND, f"There is no conversation `{parent_id[:80]}`.")
    here = registry.services.host
    if here and parent.host and parent.host != here:
        # What is begun here runs here, in a folder that has the same name at best.
        message = f"The folder of this conversation is on {parent.host}, and so would be that of a fork."
        return Refusal(Code.UNSUPPORTED, message, "Fork it there, or begin a new conversation here.")
    place = await _place(ledger, parent_id, point)
    if isinstance(place, Refusal):
        return place
    parent = await _bounded(ledger, parent)
    wanted = fork.forked(parent, place.last, command_id, title=title, at=registry.services.clock.now())
    decide = partial(_begin, wanted=wanted if may_auto else fork.without_auto(wanted), text=place.text)
    return await registry.begin(command_id, known, decide, what=what)


async def _bounded(ledger: Ledger, parent: Conversation) -> Conversation:
    """A subagent is as free as who it works for, and so is what goes on from it."""
    above = () if parent.delegated is None else parent.delegated.ancestors
    found = [await ledger.find(known) for known in above]
    return delegation.bounded(parent, [each for each in found if isinstance(each, Conversation)])


def _begin(state: ConversationState, at: str, *, wanted: Conversation, text: str) -> Decision | Refusal:
    if state.exists:
        return Refusal(Code.COMMAND_CONFLICT, "A conversation was already made with this commandId.")
    draft = Draft(state, at)
    draft.put(ConversationFact.CREATED, wanted)
    began = wanted.forked_from
    assert began is not None
    base = Base(conversation_id=began.conversation_id, through=began.through, text=text) if began.item_id else None
    return replace(draft.done(conversationId=wanted.id), base=base)


async def _place(ledger: Ledger, parent_id: str, point: Point) -> Place | Refusal:
    if point.item_id is not None:
        return await _at_item(ledger, parent_id, point.item_id)
    if point.run_id is not None:
        return await _at_run(ledger, parent_id, point.run_id)
    return await _back_from(ledger, parent_id, None)


async def _at_item(ledger: Ledger, parent_id: str, item_id: str) -> Place | Refusal:
    item = await ledger.find(item_id)
    if not isinstance(item, Item) or item.conversation_id != parent_id:
        return Refusal(Code.NOT_FOUND, f"There is no item `{item_id[:80]}` in this conversation.")
    page = await ledger.page(parent_id, cursor_at(item.ord + WINDOW), 2 * WINDOW)
    window = [*page.items]
    # An answer may have more calls than a page.
    while page.older is not None and fork.border(window, item.ord) is None:
        page = await ledger.page(parent_id, page.older, WINDOW)
        window = [*page.items, *window]
    refused = fork.refused(window, item)
    return Place(item, fork.last_text(window, item.ord)) if refused is None else refused


async def _at_run(ledger: Ledger, parent_id: str, run_id: str) -> Place | Refusal:
    """After its last item: runs begin one after the other, and what belongs to one stands together."""
    run = await ledger.find(run_id)
    if not isinstance(run, Run) or run.conversation_id != parent_id:
        return Refusal(Code.NOT_FOUND, f"There is no run `{run_id[:80]}` in this conversation.")
    if run.user_item_id is None or run.status in _NOT_BEGUN:
        return Refusal(
            Code.INVALID_PARAMS,
            f"Message {run.ordinal} is {run.status}: nothing has come of it that could be gone on from.",
            "Fork at a run that has begun, or at the end.",
        )
    if run.status is RunStatus.ROLLED_BACK:
        return Refusal(
            Code.INVALID_PARAMS, f"Run {run.ordinal} was rolled back.", "Fork at a run before it, or at the end."
        )
    return await _back_from(ledger, parent_id, await _next_begun(ledger, run), run_id=run_id)


async def _next_begun(ledger: Ledger, run: Run) -> int | None:
    """A place after the run's last item, near to it: where one begins that was sent later. None: the end."""
    head, _, _ = run.id.rpartition(".r")
    ordinal = run.ordinal
    own = await ledger.find(run.user_item_id or "")
    while True:
        ordinal += 1
        later = await ledger.find(f"{head}.r{ordinal}")
        if not isinstance(later, Run):
            return None
        first = await ledger.find(later.user_item_id) if later.user_item_id else None
        if isinstance(first, Item) and isinstance(own, Item) and first.ord > own.ord:
            return first.ord


async def _back_from(ledger: Ledger, parent_id: str, end: int | None, *, run_id: str | None = None) -> Place:
    """The last border before the place `end`; where a run is named, after the last item of it."""
    window: list[Item] = []
    cursor = None if end is None else cursor_at(end)
    while True:
        page = await ledger.page(parent_id, cursor, WINDOW)
        window = [*page.items, *window]
        last = next((item for item in reversed(window) if run_id in (None, item.run_id)), None)
        found = None if last is None else fork.border(window, last.ord)
        if found is not None or page.older is None:
            return Place(found, "" if found is None else fork.last_text(window, found.ord))
        cursor = page.older
