"""Facts and events: a fact is what a decision yields, an event is the fact once it is committed.

One fact carries the whole entity after it, so applying it is an upsert, in the daemon and in every client.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from agent_ls.core.attempt import Attempt, AttemptFact
from agent_ls.core.call import CallFact
from agent_ls.core.conversation import Conversation
from agent_ls.core.items import Item
from agent_ls.core.request import Request, RequestFact
from agent_ls.core.run import Run, RunFact

AnyEntity = Conversation | Run | Attempt | Item | Request


class EventKind(StrEnum):
    CONVERSATION = "conversation"
    RUN = "run"
    ATTEMPT = "attempt"
    ITEM = "item"
    REQUEST = "request"


ENTITIES: dict[EventKind, type[AnyEntity]] = {
    EventKind.CONVERSATION: Conversation,
    EventKind.RUN: Run,
    EventKind.ATTEMPT: Attempt,
    EventKind.ITEM: Item,
    EventKind.REQUEST: Request,
}


class ConversationFact(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    QUEUE_HELD = "queue_held"
    QUEUE_RELEASED = "queue_released"
    COMPACTION_NOTED = "compaction_noted"
    COMPACTION_OVER = "compaction_over"


class ItemFact(StrEnum):
    ADDED = "added"
    UPDATED = "updated"


FactName = ConversationFact | RunFact | AttemptFact | RequestFact | CallFact | ItemFact


@dataclass(frozen=True)
class Fact:
    """Something decided: `name` says what, `entity` is the whole thing after it.

    `at`: when it came about, where that is not the moment of its commit (an import).
    """

    name: FactName
    entity: AnyEntity
    at: str | None = None

    @property
    def kind(self) -> EventKind:
        return kind_of(self.entity)


@dataclass(frozen=True)
class Event:
    """A committed fact. `seq` is gapless and unique in its conversation; `at` is RFC 3339 UTC."""

    conversation_id: str
    seq: int
    at: str
    kind: EventKind
    fact: str
    entity: AnyEntity
    wire: bytes | None = field(default=None, compare=False, repr=False)
    """`{seq, at, kind, fact, entity}` as JSON, made once at the commit for the ledger and every window."""


def kind_of(entity: AnyEntity) -> EventKind:
    return KINDS[type(entity)]


def run_of(entity: AnyEntity) -> str | None:
    """Id of the run an entity belongs to, None for the conversation itself."""
    match entity:
        case Run():
            return entity.id
        case Attempt() | Item() | Request():
            return entity.run_id
        case Conversation():
            return None


KINDS = {entity: kind for kind, entity in ENTITIES.items()}
