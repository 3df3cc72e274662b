"""What one commit comes to, decided from where its conversation stands: the same for every engine.

Owns the checks (epoch, deletion), the events that follow and the rows that the indices get. Reads and writes nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent_ls.adapters.ledger import codec
from agent_ls.adapters.ledger.places import (
    NO_TEXT,
    Place,
    deleted,
    excerpt,
    missing_base,
    newest_text,
    place_of,
    stale_epoch,
    with_seq,
)
from agent_ls.core.conversation import Conversation
from agent_ls.core.errors import Refusal
from agent_ls.core.events import Event
from agent_ls.core.request import Request
from agent_ls.ports.ledger import Commit, Receipt


@dataclass(frozen=True)
class Standing:
    """Where a conversation stands when a commit comes to it. `owner` is None when nobody holds the claim.

    `base` is where the one stands that it is to go on from, 0 without any.
    """

    owner: str | None = None
    epoch: int = 0
    seq: int = 0
    deleted: bool = False
    base: int = 0


@dataclass(frozen=True)
class Plan:
    """`seq`: of the conversation after this commit; `receipt` as it is stored."""

    events: Sequence[Event]
    seq: int
    receipt: Receipt | None


@dataclass(frozen=True)
class Listing:
    """What a commit changes in the list of conversations; None leaves a field as it is."""

    workspace: str | None = None
    title: str | None = None
    archived: bool | None = None


@dataclass(frozen=True, eq=False)
class Prepared:
    """A commit with its entities encoded, in the order of its facts."""

    commit: Commit
    encoded: tuple[bytes, ...]


def prepare(commit: Commit) -> Prepared:
    return Prepared(commit, tuple(codec.encode(fact.entity) for fact in commit.facts))


def planned(commit: Commit, standing: Standing) -> Plan | Refusal:
    """What is to be written, if whoever commits may still write. A known receipt is the engine's to find."""
    if standing.deleted:
        return deleted(commit.conversation_id)
    if standing.owner is None or standing.epoch != commit.epoch:
        return stale_epoch(commit.epoch, standing.epoch)
    if commit.base is not None and not standing.base:
        return missing_base(commit.base.conversation_id)
    last = standing.seq + len(commit.facts)
    events = [
        Event(commit.conversation_id, seq, fact.at or commit.at, fact.kind, str(fact.name), fact.entity)
        for seq, fact in enumerate(commit.facts, start=standing.seq + 1)
    ]
    return Plan(events, last, None if commit.receipt is None else with_seq(commit.receipt, last))


def newest_places(events: Iterable[Event]) -> list[tuple[Place, int]]:
    """Each entity's place with the seq of its newest event; of several facts about one only the last counts."""
    newest = {event.entity.id: (place_of(event.entity), event.seq) for event in events}
    return list(newest.values())


def highest_number(events: Iterable[Event]) -> int:
    """Of the requests among them; 0 without one."""
    return max((event.entity.number for event in events if isinstance(event.entity, Request)), default=0)


def listing(commit: Commit) -> Listing:
    found = [fact.entity for fact in commit.facts if isinstance(fact.entity, Conversation)]
    return Listing(found[-1].workspace, found[-1].title.casefold(), found[-1].archived) if found else Listing()


def text_of(commit: Commit) -> tuple[int, str]:
    """Place and beginning of the last answer that the conversation has by this commit."""
    found = newest_text(fact.entity for fact in commit.facts)
    if found == NO_TEXT and commit.base is not None and commit.base.text:
        return commit.base.through, excerpt(commit.base.text)
    return found


def keep_bytes(prepared: Prepared, events: Sequence[Event]) -> None:
    """Gives each event the bytes that its entity was encoded to."""
    for event, encoded in zip(events, prepared.encoded, strict=True):
        codec.keep_json(event, encoded)


def receipt_row(receipt: Receipt) -> tuple[str, str, str, str]:
    """Command id, conversation id, status, result."""
    if receipt.refusal is not None:
        status, result = "rejected", codec.encode_refusal(receipt.refusal)
    else:
        status, result = "accepted", codec.encode_result(receipt.result or {})
    return receipt.command_id, receipt.conversation_id, status, result


def receipt_of(command_id: str, conversation_id: str, status: str, *, result: str | bytes) -> Receipt:
    if status == "rejected":
        return Receipt(command_id, conversation_id, refusal=codec.decode_refusal(result))
    return Receipt(command_id, conversation_id, result=codec.decode_result(result))
