"""A conversation read back from an export: what was found in the file, in order, under ids of its own.

Owns the order, what is missing, and the new ids. Pure: the file is read elsewhere (adapters.ledger.jsonl), and what a
torn history needs to be a sound state again is made_whole.py's. What is imported is never gone on with by itself, and
grants nothing: rules stay behind, and its mode is never wider than that of a new conversation.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final, cast

from agent_ls.core import ids
from agent_ls.core.attempt import Attempt
from agent_ls.core.conversation import Conversation, stricter
from agent_ls.core.events import AnyEntity, ConversationFact, Fact, FactName, ItemFact
from agent_ls.core.items import (
    Call,
    Item,
    ItemKind,
    ItemStatus,
    Notice,
    Payload,
    Plan,
    Question,
    Subagent,
)
from agent_ls.core.made_whole import make_whole
from agent_ls.core.renamed import renamed
from agent_ls.core.request import Request
from agent_ls.core.run import Run

LARGEST: Final = 1 << 53
_RUN: Final = re.compile(r"\.r([1-9][0-9]{0,8})$")
_LEGAL: Final = re.compile(r"[A-Za-z0-9_.-]{1,200}")
_FOLDER: Final = re.compile(r"file:///[^/\0][^\0]{0,4000}")


@dataclass(frozen=True)
class Gap:
    """Something that was not taken over: where, and what is known of it."""

    line: int
    what: str


@dataclass(frozen=True)
class Found:
    """A readable event. `last`: how many events the whole file has, where this one tells; `blobs` those it names."""

    line: int
    seq: int
    at: str | None
    fact: str
    entity: AnyEntity
    last: int | None = None
    blobs: frozenset[str] = frozenset()

    @property
    def conversation_id(self) -> str:
        return self.entity.id if isinstance(self.entity, Conversation) else self.entity.conversation_id

    @property
    def run_id(self) -> str | None:
        match self.entity:
            case Conversation():
                return None
            case Run():
                return self.entity.id
            case Attempt() | Item() | Request():
                return self.entity.run_id


@dataclass(frozen=True)
class Strange:
    """An event of a newer version: something of this kind and id, of which nothing else is understood."""

    line: int
    seq: int
    at: str | None
    kind: str
    id: str
    conversation_id: str
    run_id: str | None
    last: int | None = None


@dataclass(frozen=True)
class Blob:
    line: int
    digest: str
    content: bytes


Event = Found | Strange
Record = Event | Blob | Gap


@dataclass(frozen=True, kw_only=True)
class Standard:
    """What the file may not decide, and what stands in where it does not say: `conversation` has the new id."""

    conversation: Conversation
    at: str


@dataclass(frozen=True)
class History:
    """The events of one conversation, each once, in order; `gaps` between them. Empty: there is nothing to import."""

    events: Sequence[Event]
    gaps: Sequence[Gap]

    @property
    def requests(self) -> int:
        return len({e.entity.id for e in self.events if isinstance(e, Found) and isinstance(e.entity, Request)})


@dataclass(frozen=True)
class Taken:
    """The facts of the new conversation, and how many runs were found in the middle of something."""

    facts: tuple[Fact, ...]
    interrupted: int


def ordered(found: Iterable[Event]) -> History:
    events = sorted(found, key=lambda event: event.seq)
    if not events:
        return History((), ())
    mine = Counter(event.conversation_id for event in events).most_common(1)[0][0]
    kept: list[Event] = []
    gaps: list[Gap] = []
    kinds: dict[str, type] = {}
    for event in events:
        trouble = _trouble(event, kept[-1] if kept else None, mine=mine, kinds=kinds)
        if trouble is None:
            gaps += _missing(kept[-1].seq if kept else 0, event.seq, event.line)
            kept.append(event)
        elif trouble:
            gaps.append(Gap(event.line, trouble))
    last = max((event.last for event in kept if event.last is not None), default=0)
    if kept:
        gaps += _missing(kept[-1].seq, last + 1, max(event.line for event in kept) + 1)
    return History(kept, gaps)


def taken(history: History, standard: Standard, *, first_number: int, gaps: int) -> Taken:
    """`first_number` begins the fresh numbers of the requests; `gaps` is what the file did not give, said in it."""
    names = _Names(history.events, standard.conversation.id)
    numbers = _Numbers(first_number)
    facts = [*_facts(history.events, names, numbers, standard=standard)]
    if not facts or not isinstance(facts[0].entity, Conversation):
        first = next((f.entity for f in facts if isinstance(f.entity, Conversation)), standard.conversation)
        facts.insert(0, Fact(ConversationFact.CREATED, first, standard.at))
    mended, interrupted = make_whole((fact.entity for fact in facts), at=standard.at, gaps=gaps)
    return Taken((*facts, *mended), interrupted)


def _trouble(event: Event, before: Event | None, *, mine: str, kinds: dict[str, type]) -> str | None:
    """Why an event is left out: a sentence, or nothing to say where it is there twice. None: it is kept."""
    if event.conversation_id != mine:
        return "This belongs to another conversation; a file holds one."
    if before is not None and before.seq == event.seq:
        same = replace(event, line=0, last=None) == replace(before, line=0, last=None)
        return "" if same else f"Event {event.seq} is there twice and differs; the first one is kept."
    if isinstance(event, Strange):
        return None
    known = kinds.setdefault(event.entity.id, type(event.entity))
    return None if known is type(event.entity) else f"Event {event.seq} has the id of something else."


def _missing(before: int, seq: int, line: int) -> Iterator[Gap]:
    if seq == before + 2:
        yield Gap(line, f"Event {before + 1} is missing.")
    elif seq > before + 2:
        yield Gap(line, f"Events {before + 1} to {seq - 1} are missing.")


def _facts(events: Sequence[Event], names: "_Names", numbers: "_Numbers", *, standard: Standard) -> Iterator[Fact]:
    noted: set[str] = set()
    for event in events:
        if isinstance(event, Found):
            entity = _renamed(event.entity, names, numbers, standard=standard)
            yield Fact(cast(FactName, event.fact), entity, event.at)
        elif event.id not in noted:
            noted.add(event.id)
            yield Fact(ItemFact.ADDED, _note(event, names, standard), event.at)


def _renamed(entity: AnyEntity, names: "_Names", numbers: "_Numbers", *, standard: Standard) -> AnyEntity:
    mine = renamed(entity, standard.conversation.id, names.of)
    match mine:
        case Conversation():
            return _powerless(mine, standard)
        case Run():
            retry = None if mine.retry is None else replace(mine.retry, item_id=names.of(mine.retry.item_id))
            return replace(mine, ordinal=names.ordinal(entity.id), retry=retry)
        case Attempt():
            return replace(mine, n=mine.n if 0 < mine.n < LARGEST else 1)
        case Item():
            return replace(mine, ord=names.place(entity.id), payload=_payload(mine.payload, entity.id, names))
        case Request():
            return replace(mine, number=numbers.of(entity.id))


def _payload(payload: Payload, item_id: str, names: "_Names") -> Payload:
    match payload:
        case Call():
            # A file that somebody else may have written must not say what to put back into files of this machine.
            return replace(payload, call_id=names.call(payload.call_id, item_id), record=None, reviewed=None)
        case Question(call_id=str(call_id)) | Plan(call_id=str(call_id)) | Subagent(call_id=str(call_id)):
            return replace(payload, call_id=names.call(call_id))
        case _:
            return payload


def _powerless(held: Conversation, standard: Standard) -> Conversation:
    """What a file may say of it: it may have been written by somebody else, so nothing that lets anything run."""
    return replace(
        standard.conversation,
        workspace=held.workspace if _FOLDER.fullmatch(held.workspace) else standard.conversation.workspace,
        title=held.title,
        provider=held.provider,
        model=held.model,
        mode=stricter(held.mode, standard.conversation.mode),
        created_at=held.created_at,
        updated_at=held.updated_at,
        queue_held=held.queue_held,
        trusted=held.trusted and standard.conversation.trusted,
    )


def _note(event: Strange, names: "_Names", standard: Standard) -> Item:
    """What stands in the place of something from a newer version."""
    run_id = names.of(event.run_id or names.first_run)
    return Item(
        id=f"{run_id}.x{_short(event.id)}",
        conversation_id=standard.conversation.id,
        run_id=run_id,
        ord=names.place(_strange(event)),
        kind=ItemKind.NOTICE,
        status=ItemStatus.COMPLETED,
        payload=Notice(
            code="unreadable",
            message=f"Something of kind `{event.kind[:40]}` was imported that this version of agent-ls cannot show.",
            hint="Import the file again with the newer version that wrote it.",
        ),
        created_at=event.at or standard.at,
    )


class _Names:
    """From the ids of the file to those of the new conversation; runs are counted anew, without holes."""

    def __init__(self, events: Sequence[Event], own: str) -> None:
        self._old = events[0].conversation_id if events else ""
        self._own = own
        self._ordinals = {run_id: place for place, run_id in enumerate(_runs(events, self._old), start=1)}
        self._places = _places(events)
        self._callers: dict[str, str] = {}
        self.first_run = next(iter(self._ordinals), f"{self._old}.r1")

    def of(self, old: str) -> str:
        if old in self._ordinals:
            return ids.run_id(self._own, self._ordinals[old])
        head, _, rest = old.removeprefix(f"{self._old}.").partition(".")
        run = self._ordinals.get(f"{self._old}.{head}")
        if run is None or not rest:
            return f"{self._own}.x{_short(old)}"
        return f"{ids.run_id(self._own, run)}.{rest if _LEGAL.fullmatch(rest) else 'x' + _short(rest)}"

    def call(self, old: str, by: str | None = None) -> str:
        """A call id stands for one call; a second item of the same, whose own id was damaged, gets another one."""
        first = by is None or self._callers.setdefault(old, by) == by
        return ids.call_id(f"{self._own} {old}" if first else f"{self._own} {old} {by}")

    def ordinal(self, run_id: str) -> int:
        return self._ordinals[run_id]

    def place(self, item_id: str) -> int:
        return self._places[item_id]


class _Numbers:
    """Fresh numbers of requests: a number is never given twice, not even to a copy."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._given: dict[str, int] = {}

    def of(self, request_id: str) -> int:
        return self._given.setdefault(request_id, self._first + len(self._given))


def _runs(events: Sequence[Event], own: str) -> list[str]:
    """Every run that is named, by its ordinal; what is not a run itself tells only its id."""
    found: dict[str, int] = {}
    for event in events:
        if event.run_id is not None:
            known = _RUN.search(event.run_id)
            found.setdefault(event.run_id, int(known[1]) if known else LARGEST)
        if isinstance(event, Found) and isinstance(event.entity, Run) and event.entity.ordinal > 0:
            found[event.entity.id] = event.entity.ordinal
    if any(isinstance(event, Strange) and event.run_id is None for event in events) and not found:
        found[f"{own}.r1"] = 1
    return sorted(found, key=lambda run_id: found[run_id])


def _places(events: Sequence[Event]) -> dict[str, int]:
    """Each item keeps its place; one that has none, or one that is taken, comes at the end."""
    places: dict[str, int] = {}
    taken_up: set[int] = set()
    homeless: dict[str, None] = {}
    for event in events:
        if isinstance(event, Found) and not isinstance(event.entity, Item):
            continue
        id_ = _strange(event) if isinstance(event, Strange) else event.entity.id
        if id_ in places or id_ in homeless:
            continue
        wanted = event.entity.ord if isinstance(event, Found) and isinstance(event.entity, Item) else 0
        if 0 < wanted < LARGEST and wanted not in taken_up:
            places[id_] = wanted
            taken_up.add(wanted)
        else:
            homeless[id_] = None
    end = max(taken_up, default=0) + 1
    return places | {id_: end + place for place, id_ in enumerate(homeless)}


def _strange(event: Strange) -> str:
    """Told apart from what has the same id and can be read."""
    return f"strange {event.id}"


def _short(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
