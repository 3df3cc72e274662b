"""A decision in the making: facts laid over the state they are decided on.

Owns the order of facts, places (`ord`) of new items and the queue of effects, so that deciders say only what happens.
Pure: nothing is committed here.
"""

from dataclasses import dataclass, field
from typing import Any

from agent_ls.core import attempt as attempts
from agent_ls.core import call as calls
from agent_ls.core import ids
from agent_ls.core import request as requests
from agent_ls.core import run as runs
from agent_ls.core.attempt import Attempt, AttemptFact
from agent_ls.core.call import CallFact
from agent_ls.core.conversation import Conversation
from agent_ls.core.effects import Effect
from agent_ls.core.events import AnyEntity, Fact, FactName, ItemFact
from agent_ls.core.items import Item, ItemKind, ItemStatus, Payload, ToolResult
from agent_ls.core.lineage import Base
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Request, RequestFact
from agent_ls.core.run import Run, RunFact, RunStatus


@dataclass(frozen=True)
class Decision:
    """What a command changes, and its answer. `base`: what a conversation begins with that goes on from another one."""

    facts: tuple[Fact, ...] = ()
    effects: tuple[Effect, ...] = ()
    settled: tuple[str, ...] = ()
    result: dict[str, Any] = field(default_factory=dict)
    base: Base | None = None


class Draft:
    """Collects facts. Reads through it see what it has already recorded."""

    def __init__(self, state: ConversationState, at: str) -> None:
        self.state = state
        self.at = at
        self.effects: list[Effect] = []
        self.settled: list[str] = []
        self._facts: list[Fact] = []
        self._over: dict[str, AnyEntity] = {}
        self._ord = state.next_ord

    @property
    def next_seq(self) -> int:
        """Seq that the next fact will get."""
        return self.state.seq + len(self._facts) + 1

    def done(self, **result: Any) -> Decision:
        return Decision(tuple(self._facts), tuple(self.effects), tuple(self.settled), result)

    def put(self, name: FactName, entity: AnyEntity) -> None:
        self._facts.append(Fact(name, entity))
        self._over[entity.id] = entity

    @property
    def conversation(self) -> Conversation:
        over = self._over.get(self.state.conversation.id)
        return over if isinstance(over, Conversation) else self.state.conversation

    def get_run(self, run_id: str) -> Run:
        over = self._over.get(run_id)
        return over if isinstance(over, Run) else self.state.runs[run_id]

    def get_attempt(self, attempt_id: str) -> Attempt:
        over = self._over.get(attempt_id)
        return over if isinstance(over, Attempt) else self.state.attempts[attempt_id]

    def attempt_of(self, run: Run) -> Attempt:
        """The active one; asking for it before a run has begun is a bug."""
        return self.get_attempt(run.active_attempt_id or "")

    def get_item(self, item_id: str) -> Item:
        over = self._over.get(item_id)
        return over if isinstance(over, Item) else self.state.items[item_id]

    def run_items(self, run_id: str) -> list[Item]:
        """Items of a run as they are with this draft."""
        known = [self.get_item(item_id) for item_id in self.state.run_items.get(run_id, ())]
        fresh = [e for e in self._over.values() if isinstance(e, Item) and e.id not in self.state.items]
        return known + [item for item in fresh if item.run_id == run_id]

    def queue(self) -> list[Run]:
        """Queued runs as they are with this draft, next one first."""
        found = dict(self.state.queued)
        found |= {entity.id: entity for entity in self._over.values() if isinstance(entity, Run)}
        waiting = [run for run in found.values() if run.status is RunStatus.QUEUED]
        return sorted(waiting, key=lambda run: (run.position or 0, run.ordinal))

    def pending_requests(self, run_id: str) -> list[Request]:
        found = {r.id: r for r in self.state.pending.values() if r.run_id == run_id}
        found |= {e.id: e for e in self._over.values() if isinstance(e, Request) and e.run_id == run_id}
        return [request for request in found.values() if request.pending]

    def move_run(self, run_id: str, fact: RunFact, **facts: Any) -> Run:
        moved = runs.evolve(self.get_run(run_id), fact, **facts)
        self.put(fact, moved)
        return moved

    def move_attempt(self, attempt_id: str, fact: AttemptFact, **facts: Any) -> Attempt:
        moved = attempts.evolve(self.get_attempt(attempt_id), fact, **facts)
        self.put(fact, moved)
        return moved

    def move_request(self, request: Request, fact: RequestFact, **facts: Any) -> Request:
        moved = requests.evolve(request, fact, **facts)
        self.put(fact, moved)
        return moved

    def move_call(self, item_id: str, fact: CallFact, **facts: Any) -> Item:
        moved = calls.evolve(self.get_item(item_id), fact, self.at, **facts)
        self.put(fact, moved)
        return moved

    def answer_call(self, item_id: str, result: ToolResult, **facts: Any) -> None:
        """The person's answer is the result and nothing else has to run: all states are passed through at once."""
        self.move_call(item_id, CallFact.APPROVED, **facts)
        self.move_call(item_id, CallFact.STARTED)
        self.move_call(item_id, CallFact.FINISHED, result=result)

    def end_unbegun(self, item_id: str, result: ToolResult) -> None:
        """`result` says why it does not begin any more."""
        fact, told = calls.not_begun(self.get_item(item_id).call, result)
        self.move_call(item_id, fact, result=told)

    def new_item(self, run_id: str, item_id: str, kind: ItemKind, *, payload: Payload, **more: Any) -> Item:
        """An item at the next place, not yet recorded (a call still moves before it is)."""
        status = more.pop("status", ItemStatus.COMPLETED)
        item = Item(
            id=item_id,
            conversation_id=self.state.conversation.id,
            run_id=run_id,
            ord=self._ord,
            kind=kind,
            status=status,
            payload=payload,
            created_at=self.at,
            **more,
        )
        self._ord += 1
        return item

    def add_item(self, run_id: str, item_id: str, kind: ItemKind, *, payload: Payload, **more: Any) -> Item:
        item = self.new_item(run_id, item_id, kind, payload=payload, **more)
        self.put(ItemFact.ADDED, item)
        return item

    def fresh_note_id(self, run_id: str, name: str) -> str:
        """The first free id of this name in the run."""
        taken = sum(1 for item in self.run_items(run_id) if item.id.startswith(f"{run_id}.{name}"))
        return ids.note_id(run_id, name, taken + 1)
