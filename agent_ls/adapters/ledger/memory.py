"""The ledger in memory: the same answers as the other engines, for tests and simulation.

Owns nothing durable. A `Store` outlives the ledger on it, so that a crash and a successor can be played. Ledgers that
are given a boot id hold a lease on it, as daemons on one PostgreSQL do; without one, whoever claims gets it, as on
SQLite.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TypeVar

from agent_ls.adapters.ledger.codec import event_json
from agent_ls.adapters.ledger.handover import closed
from agent_ls.adapters.ledger.places import (
    NO_TEXT,
    Place,
    State,
    held_elsewhere,
    in_order,
    key_conflict,
    list_cursor,
    place_of,
    read_list_cursor,
    read_page_cursor,
    summary,
)
from agent_ls.adapters.ledger.plan import Standing, highest_number, planned, text_of
from agent_ls.adapters.ledger.strands import Row, Strand, needed, strands, whole
from agent_ls.core.conversation import Conversation
from agent_ls.core.effects import Effect
from agent_ls.core.errors import Refusal
from agent_ls.core.events import AnyEntity, Event, run_of
from agent_ls.core.ids import SUBAGENT
from agent_ls.core.items import Item
from agent_ls.core.request import Request
from agent_ls.ports.ledger import (
    Commit,
    Committed,
    LedgerStatus,
    ListQuery,
    Page,
    Receipt,
    Snapshot,
    Summary,
    cursor_at,
)
from agent_ls.wire.blobs import possible

K = TypeVar("K", bound=AnyEntity)


@dataclass
class Kept:
    """All there is of one conversation."""

    events: list[Event] = field(default_factory=list)
    current: dict[str, AnyEntity] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    updated: str = ""
    text: tuple[int, str] = NO_TEXT
    strands: list[Strand] = field(default_factory=list)

    def conversation(self, conversation_id: str) -> Conversation | None:
        found = self.current.get(conversation_id)
        return found if isinstance(found, Conversation) else None


@dataclass
class Store:
    conversations: dict[str, Kept] = field(default_factory=dict)
    ghosts: dict[str, list[Event]] = field(default_factory=dict)
    """What forks need of conversations that were deleted."""
    receipts: dict[str, Receipt] = field(default_factory=dict)
    epochs: dict[str, int] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    effects: dict[str, Effect] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    unused: dict[str, float] = field(default_factory=dict)
    partials: dict[str, dict[str, str]] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    leases: dict[str, float] = field(default_factory=dict)
    instances: dict[str, str] = field(default_factory=dict)
    last_number: int = 0
    reserved: int = 0
    seconds: Callable[[], float] = lambda: 0.0
    """The clock that alone says whether a lease has ended."""


class MemoryLedger:
    """Implements ports.ledger.Ledger.

    `boot_id` takes a lease of `ttl_s`; `instance_id` names the state directory whose lock this daemon holds: what
    earlier boots of it had claimed is free at once.
    """

    def __init__(
        self,
        store: Store | None = None,
        *,
        boot_id: str | None = None,
        instance_id: str | None = None,
        ttl_s: float = 30,
    ) -> None:
        self.store = store or Store()
        self._boot_id = boot_id
        self._ttl_s = ttl_s
        self._closed = False
        if boot_id is None:
            # Alone on the store: what an earlier daemon reserved and did not commit is free again.
            self.store.reserved = self.store.last_number
            return
        instance = instance_id or boot_id
        for earlier in [boot for boot, of in self.store.instances.items() if of == instance]:
            self.store.leases.pop(earlier, None)
        self.store.instances[boot_id] = instance
        self.store.leases[boot_id] = self.store.seconds() + ttl_s

    async def close(self) -> None:
        """Who ends properly gives back at once what it holds."""
        self._closed = True
        for effect in list(self.store.effects.values()):
            if self._boot_id is not None and self.store.owners.get(effect.conversation_id) == self._boot_id:
                self.store.effects[effect.id] = replace(effect, attempts=0, seq=None, last_error=None)
        for held in [id_ for id_, owner in self.store.owners.items() if owner == self._boot_id]:
            del self.store.owners[held]
        self.store.leases.pop(self._boot_id or "", None)

    async def renew(self) -> None:
        """To be called at a third of the lease's life."""
        if self._boot_id is not None:
            self._open().leases[self._boot_id] = self.store.seconds() + self._ttl_s

    async def claim(self, conversation_id: str, owner: str) -> int | Refusal:
        store = self._open()
        held = store.owners.get(conversation_id)
        left_s = 0.0 if held in (None, owner) else store.leases.get(held or "", 0.0) - store.seconds()
        if held is not None and left_s > 0:
            return held_elsewhere(conversation_id, held, left_s)
        epoch = store.epochs.get(conversation_id, 0) + 1
        store.epochs[conversation_id] = epoch
        store.owners[conversation_id] = owner
        return epoch

    async def release(self, conversation_id: str, owner: str) -> None:
        owners = self._open().owners
        if owners.get(conversation_id) == owner:
            del owners[conversation_id]

    async def append(self, commit: Commit) -> Committed | Refusal:
        store, id_ = self._open(), commit.conversation_id
        kept = store.conversations.get(id_)
        seq = len(kept.events) if kept else 0
        base = store.conversations.get(commit.base.conversation_id) if commit.base else None
        standing = Standing(
            store.owners.get(id_), store.epochs.get(id_, 0), seq, id_ in store.deleted, len(base.events) if base else 0
        )
        plan = planned(commit, standing)
        if isinstance(plan, Refusal):
            return plan
        if plan.receipt is not None:
            known = store.receipts.setdefault(plan.receipt.command_id, plan.receipt)
            if known.conversation_id != id_:
                return key_conflict(known.command_id)
            if known is not plan.receipt:
                return Committed((), seq, known)
        self._apply(commit, plan.events)
        return Committed(plan.events, plan.seq, plan.receipt)

    def _apply(self, commit: Commit, events: Sequence[Event]) -> None:
        store = self.store
        if events:
            kept = store.conversations.setdefault(commit.conversation_id, Kept())
            kept.events.extend(events)
            kept.updated = max(kept.updated, commit.at)
            if commit.base is not None:
                base = store.conversations[commit.base.conversation_id]
                kept.strands = strands(commit.base, len(base.events), base.strands)
            text = text_of(commit)
            kept.text = text if text[0] >= kept.text[0] else kept.text
            for event in events:
                kept.current[event.entity.id] = event.entity
                kept.places[event.entity.id] = place_of(event.entity)
        store.last_number = max(store.last_number, highest_number(events))
        for effect in commit.effects:
            store.effects.setdefault(effect.id, effect)
        for done in commit.settled:
            store.effects.pop(done, None)

    async def receipt(self, command_id: str) -> Receipt | None:
        return self._open().receipts.get(command_id)

    async def reserve_numbers(self, count: int) -> int:
        store = self._open()
        first = max(store.reserved, store.last_number) + 1
        store.reserved = first + count - 1
        return first

    async def load(self, conversation_id: str) -> Snapshot | None:
        kept = self._open().conversations.get(conversation_id)
        return Snapshot(in_order(self._whole(conversation_id)), len(kept.events)) if kept else None

    async def head(self, conversation_id: str) -> Snapshot | None:
        kept = self._open().conversations.get(conversation_id)
        if kept is None:
            return None
        shown = [entity for id_, entity in kept.current.items() if id_ == conversation_id or kept.places[id_].state]
        return Snapshot(in_order(shown), len(kept.events))

    async def read(self, conversation_id: str, after: int, limit: int) -> Sequence[Event]:
        kept = self._open().conversations.get(conversation_id)
        after = max(0, after)
        return kept.events[after : after + max(0, limit)] if kept else []

    async def page(self, conversation_id: str, before: str | None, limit: int) -> Page:
        end = read_page_cursor(before)
        every = [entity for entity in self._whole(conversation_id) if isinstance(entity, Item)]
        items = sorted((item for item in every if item.ord < end), key=lambda item: item.ord)
        shown = items[-max(1, limit) :]
        return Page(shown, cursor_at(shown[0].ord) if len(items) > len(shown) else None)

    async def find(self, entity_id: str) -> AnyEntity | None:
        found = (kept.current.get(entity_id) for kept in self._open().conversations.values())
        own = next((entity for entity in found if entity), None)
        every = self._whole(entity_id.partition(".")[0]) if own is None else ()
        return own or next((entity for entity in every if entity.id == entity_id), None)

    async def conversations(self, query: ListQuery) -> tuple[Sequence[Summary], str | None]:
        wanted = [
            (kept.updated, id_)
            for id_, kept in self._open().conversations.items()
            if (conversation := kept.conversation(id_)) and _matches(conversation, query)
        ]
        wanted.sort(reverse=True)
        if query.cursor is not None:
            place = read_list_cursor(query.cursor)
            wanted = [key for key in wanted if key < place]
        shown = wanted[: max(1, query.limit)]
        found = [made for _, id_ in shown if (made := await self.summary(id_))]
        return found, list_cursor(*shown[-1]) if len(wanted) > len(shown) else None

    async def summary(self, conversation_id: str) -> Summary | None:
        kept = self._open().conversations.get(conversation_id)
        conversation = kept.conversation(conversation_id) if kept else None
        if kept is None or conversation is None:
            return None
        states = Counter(str(place.state) for place in kept.places.values() if place.state)
        return summary(conversation, len(kept.events), kept.text[1], states=states)

    async def requests(self, workspace: str | None, conversation_id: str | None) -> Sequence[Request]:
        found = [
            request
            for id_, kept in self._open().conversations.items()
            if conversation_id in (None, id_) and _in_workspace(kept.conversation(id_), workspace)
            for request in self._all(Request, id_)
            if request.pending
        ]
        return sorted(found, key=lambda request: (request.number, request.id))

    async def request_by_number(self, number: int) -> Request | None:
        every = (request for id_ in self._open().conversations for request in self._all(Request, id_))
        return next((request for request in every if request.number == number), None)

    async def owed(self) -> Sequence[Effect]:
        return list(self._open().effects.values())

    async def take_up(self, effect: Effect, epoch: int) -> bool:
        store = self._open()
        if effect.id not in store.effects or store.epochs.get(effect.conversation_id) != epoch:
            return False
        store.effects[effect.id] = effect
        return True

    async def put_blob(self, content: bytes) -> str:
        digest = sha256(content).hexdigest()
        self._open().blobs[digest] = content
        self.store.unused.pop(digest, None)
        return digest

    async def get_blob(self, digest: str) -> bytes | None:
        return self._open().blobs.get(digest)

    async def sweep_blobs(self, grace_s: float) -> int:
        store = self._open()
        ghosts = (event for ghost in store.ghosts.values() for event in ghost)
        events = (*(event for kept in store.conversations.values() for event in kept.events), *ghosts)
        used = {digest for event in events for digest in possible(event_json(event))}
        now = store.seconds()
        store.unused = {digest: store.unused.get(digest, now) for digest in store.blobs if digest not in used}
        gone = [digest for digest, since in store.unused.items() if since <= now - grace_s]
        for digest in gone:
            del store.blobs[digest], store.unused[digest]
        return len(gone)

    def keep_partial(self, conversation_id: str, item_id: str, text: str) -> None:
        self.store.partials.setdefault(conversation_id, {})[item_id] = text.encode("utf-8", "replace").decode()

    async def partials(self, conversation_id: str) -> dict[str, str]:
        return dict(self._open().partials.get(conversation_id, {}))

    async def drop_partials(self, conversation_id: str) -> None:
        self._open().partials.pop(conversation_id, None)

    async def delete(self, conversation_id: str, command_id: str) -> bool:
        store = self._open()
        gone = store.conversations.pop(conversation_id, None)
        if gone is None:
            return False
        store.ghosts[conversation_id] = gone.events
        for source in (conversation_id, *(strand.source for strand in gone.strands)):
            self._prune(source, is_fork=source != conversation_id or bool(gone.strands))
        store.deleted.add(conversation_id)
        store.owners.pop(conversation_id, None)
        store.partials.pop(conversation_id, None)
        for effect in [kept for kept in store.effects.values() if kept.conversation_id == conversation_id]:
            del store.effects[effect.id]
        for receipt in [kept for kept in store.receipts.values() if kept.conversation_id == conversation_id]:
            del store.receipts[receipt.command_id]
        store.receipts.setdefault(command_id, Receipt(command_id, conversation_id, result={}))
        return True

    async def status(self) -> LedgerStatus:
        every = self._open().conversations
        pending = sum(place.state is State.PENDING for kept in every.values() for place in kept.places.values())
        return LedgerStatus(
            engine="memory",
            schema=1,
            events=sum(len(kept.events) for kept in every.values()),
            size_bytes=0,
            writable=True,
            details={"conversations": len(every), "pendingRequests": pending},
        )

    def _open(self) -> Store:
        if self._closed:
            raise closed()
        return self.store

    def _whole(self, conversation_id: str) -> list[AnyEntity]:
        kept = self._open().conversations.get(conversation_id)
        if kept is None:
            return []
        layers = ((strand, (event.entity for event in self._seen(strand))) for strand in kept.strands)
        return whole(kept.current.values(), layers, conversation_id)

    def _seen(self, strand: Strand) -> list[Event]:
        """The newest event of each entity of a source, as a fork sees it."""
        kept = self.store.conversations.get(strand.source)
        events = kept.events if kept else self.store.ghosts.get(strand.source, [])
        return list({event.entity.id: event for event in events if event.seq <= strand.seq}.values())

    def _prune(self, source: str, *, is_fork: bool) -> None:
        """Of what was deleted only that stays which a fork needs."""
        ghost = self.store.ghosts.get(source, [])
        looked_at = {each for kept in self.store.conversations.values() for each in kept.strands}
        keep: set[int] = set()
        for strand in (each for each in looked_at if each.source == source):
            rows = [
                Row(event.seq, str(event.kind), place_of(event.entity).ord, run_of(event.entity))
                for event in self._seen(strand)
            ]
            keep |= needed(rows, strand, is_fork=is_fork)
        self.store.ghosts[source] = [event for event in ghost if event.seq in keep]
        if not self.store.ghosts[source]:
            del self.store.ghosts[source]

    def _all(self, kind: type[K], conversation_id: str) -> list[K]:
        kept = self._open().conversations.get(conversation_id)
        return [entity for entity in kept.current.values() if isinstance(entity, kind)] if kept else []


def _matches(conversation: Conversation, query: ListQuery) -> bool:
    text = (query.query or "").casefold()
    return (
        conversation.archived is query.archived
        and not conversation.id.startswith(SUBAGENT)
        and _in_workspace(conversation, query.workspace)
        and text in conversation.title.casefold()
    )


def _in_workspace(conversation: Conversation | None, workspace: str | None) -> bool:
    return workspace is None or (conversation is not None and conversation.workspace == workspace)
