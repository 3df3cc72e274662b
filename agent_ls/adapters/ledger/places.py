"""Where an entity stands in the derived indices, the same for every engine.

Owns what is indexed (place, state, newest text), the cursors and how a summary is put together. Stores nothing.
"""

import math
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from agent_ls.core.attempt import Attempt
from agent_ls.core.conversation import Conversation
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import AnyEntity, EventKind, kind_of
from agent_ls.core.items import AssistantMessage, Item
from agent_ls.core.request import Request
from agent_ls.core.run import Run, RunStatus
from agent_ls.ports.ledger import LedgerError, Receipt, Summary

EXCERPT_LENGTH = 200
NO_TEXT = (-1, "")
_NO_END = (1 << 63) - 1


class State(StrEnum):
    """What makes a run or request matter to an attach; everything else has none."""

    QUEUED = "queued"
    ACTIVE = "active"
    STOPPING = "stopping"
    PENDING = "pending"


@dataclass(frozen=True)
class Place:
    """`ord`: an item's place, a run's ordinal, an attempt's n, a request's number. Each is unique where it is used."""

    entity_id: str
    kind: EventKind
    ord: int
    state: State | None = None


def place_of(entity: AnyEntity) -> Place:
    match entity:
        case Conversation():
            return Place(entity.id, EventKind.CONVERSATION, 0)
        case Run():
            return Place(entity.id, EventKind.RUN, entity.ordinal, _run_state(entity))
        case Attempt():
            return Place(entity.id, EventKind.ATTEMPT, entity.n)
        case Item():
            return Place(entity.id, EventKind.ITEM, entity.ord)
        case Request():
            state = State.PENDING if entity.pending else None
            return Place(entity.id, EventKind.REQUEST, entity.number, state)


def newest_text(entities: Iterable[AnyEntity]) -> tuple[int, str]:
    """Place and beginning of the last answer among them, (-1, "") without one."""
    newest = NO_TEXT
    for entity in entities:
        if isinstance(entity, Item) and entity.ord >= newest[0] and (text := _excerpt(entity)):
            newest = entity.ord, text
    return newest


def excerpt(text: str) -> str:
    """Of an answer, as a list shows it."""
    return text.strip()[:EXCERPT_LENGTH].encode("utf-8", "replace").decode()


def in_order(entities: Iterable[AnyEntity]) -> list[AnyEntity]:
    """Conversation, runs, attempts, items, requests; each kind by its place."""

    def key(entity: AnyEntity) -> tuple[int, int, str]:
        return _RANK[kind_of(entity)], place_of(entity).ord, entity.id

    return sorted(entities, key=key)


def summary(conversation: Conversation, seq: int, last_text: str, *, states: Mapping[str, int]) -> Summary:
    """`states`: how many runs and requests are in which state."""
    return Summary(
        conversation=conversation,
        seq=seq,
        last_text=last_text,
        pending_requests=states.get(State.PENDING, 0),
        active_run=bool(states.get(State.ACTIVE, 0) + states.get(State.STOPPING, 0)),
        queued_runs=states.get(State.QUEUED, 0),
        stopping=bool(states.get(State.STOPPING, 0)),
    )


def with_seq(receipt: Receipt, seq: int) -> Receipt:
    """The receipt as it is stored: what was done tells at which seq."""
    if receipt.refusal is not None:
        return receipt
    return replace(receipt, result={**(receipt.result or {}), "seq": seq})


def read_page_cursor(cursor: str | None) -> int:
    """The place that a page ends before: without a cursor beyond every other."""
    if cursor is None:
        return _NO_END
    try:
        return int(cursor)
    except ValueError:
        raise bad_cursor() from None


def list_cursor(updated: str, conversation_id: str) -> str:
    return urlsafe_b64encode(f"{updated} {conversation_id}".encode()).decode()


def read_list_cursor(cursor: str) -> tuple[str, str]:
    try:
        updated, _, conversation_id = urlsafe_b64decode(cursor.encode()).decode().partition(" ")
    except ValueError:
        raise bad_cursor() from None
    return updated, conversation_id


def stale_epoch(used: int, newest: int) -> Refusal:
    return Refusal(
        Code.STALE_EPOCH,
        "Another daemon has taken over this conversation; connect again.",
        data={"epoch": used, "newest": newest},
    )


def lost_track(epoch: int) -> Refusal:
    return Refusal(
        Code.STALE_EPOCH,
        "An earlier change of this conversation was committed after all, without an answer; connect again.",
        data={"epoch": epoch, "newest": epoch},
    )


def held_elsewhere(conversation_id: str, owner: str, left_s: float) -> Refusal:
    return Refusal(
        Code.CONVERSATION_BUSY,
        f"Conversation {conversation_id} is held by another daemon.",
        f"Go on there, or try again in {math.ceil(left_s)} seconds: if that daemon is gone, its lease has ended then.",
        {"owner": owner, "leftSeconds": round(left_s, 1)},
    )


def deleted(conversation_id: str) -> Refusal:
    return Refusal(
        Code.NOT_FOUND,
        f"Conversation {conversation_id} was deleted.",
        "Start a new conversation; `agent-ls conversations` lists what there is.",
    )


def missing_base(conversation_id: str) -> Refusal:
    return Refusal(
        Code.NOT_FOUND,
        f"Conversation {conversation_id} was deleted in this moment, so nothing can go on from it.",
        "`agent-ls conversations` lists what there is.",
    )


def key_conflict(command_id: str) -> Refusal:
    return Refusal(
        Code.COMMAND_CONFLICT,
        f"The command id {command_id} was already used for another conversation; use a fresh one.",
    )


def bad_cursor() -> LedgerError:
    return LedgerError(
        Refusal(Code.INVALID_PARAMS, "This cursor is not one that the daemon gave out; begin again without a cursor.")
    )


def _run_state(run: Run) -> State | None:
    if run.ended:
        return None
    if run.status is RunStatus.QUEUED:
        return State.QUEUED
    return State.STOPPING if run.interrupt else State.ACTIVE


def _excerpt(item: Item) -> str:
    return excerpt(item.payload.text) if isinstance(item.payload, AssistantMessage) else ""


_RANK = {kind: rank for rank, kind in enumerate(EventKind)}
