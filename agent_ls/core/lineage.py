"""What a fork has from the conversation that it was made of: everything up to a place, as its own.

Owns which entities come along, under which ids, and what of them stays behind. Pure, and the same each time: nothing is
copied when a fork is made, so this is what a reader of the fork sees. Does not own where a fork may begin (fork.py).

What a model was sent stays as it was, to the byte: ids of calls are kept, and so is every text. Behind stay what is the
parent's to settle (background shells, reviews of edits, requests that wait) and what the parent has used up.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from agent_ls.core.attempt import Attempt, AttemptFact, AttemptStatus
from agent_ls.core.call import CallFact
from agent_ls.core.conversation import Conversation
from agent_ls.core.events import AnyEntity, ConversationFact, Fact, ItemFact
from agent_ls.core.items import Call, Compaction, Item, ItemStatus, Payload, Subagent, ToolResult, Usage
from agent_ls.core.renamed import renamed
from agent_ls.core.request import Request, RequestFact
from agent_ls.core.run import Run, RunFact, RunStatus
from agent_ls.core.shells import SHELL

_ENDED_AS: Final[Mapping[AttemptStatus, RunStatus]] = {
    AttemptStatus.COMPLETED: RunStatus.COMPLETED,
    AttemptStatus.FAILED: RunStatus.FAILED,
}


@dataclass(frozen=True, kw_only=True)
class Base:
    """What a new conversation goes on from: the items of another one up to the place `through`.

    `text` is the last answer among them, as far as a list shows it.
    """

    conversation_id: str
    through: int
    text: str = ""


def inherited(layers: Iterable[tuple[int, Iterable[AnyEntity]]], own: str) -> list[AnyEntity]:
    """Of each source what is there up to its place, nearest source first: what it says of an entity counts."""
    found: dict[str, AnyEntity] = {}
    for through, entities in layers:
        for entity in entities:
            if isinstance(entity, Conversation) or (isinstance(entity, Item) and entity.ord > through):
                continue
            mine = as_own(entity, own)
            found.setdefault(mine.id, mine)
    runs = {entity.run_id for entity in found.values() if isinstance(entity, Item)}
    return [_closed(entity, found) for entity in found.values() if _comes_along(entity, runs, found)]


def given(entities: Iterable[AnyEntity], through: int) -> list[AnyEntity]:
    """Of everything that a fork has, what it has from elsewhere."""
    known = list(entities)
    items = {e.id: e.run_id for e in known if isinstance(e, Item) and e.ord <= through}
    runs = set(items.values())
    return [entity for entity in known if _comes_along(entity, runs, items)]


def as_told(entity: AnyEntity) -> Fact:
    """The newest fact of something that is there, for a reader who was not told the ones before."""
    match entity:
        case Conversation():
            return Fact(ConversationFact.CREATED, entity, entity.created_at)
        case Run():
            return Fact(RunFact(entity.status), entity, entity.ended_at or entity.created_at)
        case Attempt():
            return Fact(AttemptFact(entity.status), entity, entity.created_at)
        case Request():
            return Fact(RequestFact(entity.status), entity, entity.created_at)
        case Item(payload=Call(state=state)):
            return Fact(CallFact(state), entity, entity.updated_at or entity.created_at)
        case Item():
            return Fact(ItemFact.ADDED, entity, entity.created_at)


def as_own(entity: AnyEntity, own: str) -> AnyEntity:
    """An entity of a source as that of the conversation `own`."""
    if isinstance(entity, Conversation):
        return entity
    mine = renamed(entity, own, partial(_own, source=entity.conversation_id, own=own))
    match mine:
        case Attempt():
            return replace(
                mine,
                status=AttemptStatus.INTERRUPTED if mine.live else mine.status,
                usage=Usage(),
                last_usage=None if mine.last_usage is None else replace(mine.last_usage, cost_usd=None),
            )
        case Item():
            # The list of steps of a run that goes on: it has ended here.
            status = ItemStatus.INTERRUPTED if mine.status is ItemStatus.RUNNING else mine.status
            return replace(mine, status=status, payload=_payload(mine.payload))
        case _:
            return mine


def _payload(payload: Payload) -> Payload:
    match payload:
        case Call():
            return replace(payload, record=None, reviewed=None, result=_result(payload.result))
        case Subagent():
            return replace(payload, usage=None, requests=())
        case Compaction():
            return replace(payload, usage=None)
        case _:
            return payload


def _result(result: ToolResult | None) -> ToolResult | None:
    """Without the shell that it left running: that one is the parent's to look after."""
    if result is None or result.data is None or SHELL not in result.data:
        return result
    return replace(result, data={name: value for name, value in result.data.items() if name != SHELL})


def _comes_along(entity: AnyEntity, runs: Container[str], items: Container[str]) -> bool:
    """Queued messages do not: nothing of them is in the transcript."""
    match entity:
        case Run():
            return entity.id in runs
        case Attempt():
            return entity.run_id in runs
        case Request():
            return entity.item_id in items and not entity.pending
        case Item():
            return entity.id in items
        case Conversation():
            return False


def _closed(entity: AnyEntity, found: Mapping[str, AnyEntity]) -> AnyEntity:
    """A run that goes on in the parent has ended here, as far as it had come."""
    if not isinstance(entity, Run) or entity.ended:
        return entity
    attempt = found.get(entity.active_attempt_id or "")
    status = _ENDED_AS.get(attempt.status) if isinstance(attempt, Attempt) else None
    return replace(
        entity,
        status=status or RunStatus.INTERRUPTED,
        ended_at=entity.started_at or entity.created_at,
        steers=(),
        retry=None,
        interrupt=None,
    )


def _own(known: str, *, source: str, own: str) -> str:
    head, dot, rest = known.partition(".")
    return f"{own}{dot}{rest}" if head == source else known
