"""A history that was torn or cut off, made a sound state again: nothing goes on, nothing is open, nothing is missing.

Owns the facts that follow an imported history. What it finds whole and at rest it leaves as it is. Every invariant
(invariants.py) holds after it. Pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from agent_ls.core import call as calls
from agent_ls.core.attempt import ENDED_BY, ENDS_RUN, Attempt, AttemptFact, AttemptStatus, Reason
from agent_ls.core.call import SETTLED, CallFact
from agent_ls.core.conversation import Conversation
from agent_ls.core.events import AnyEntity, ConversationFact, Fact, FactName, ItemFact
from agent_ls.core.items import (
    Block,
    Call,
    CallState,
    Item,
    ItemKind,
    ItemStatus,
    Notice,
    Payload,
    ResultStatus,
    ToolResult,
    UserMessage,
)
from agent_ls.core.request import Request, RequestFact, RequestStatus
from agent_ls.core.run import Run, RunFact, RunStatus, Steer, queued_run

LOST: Final = "(This message could not be read from the imported file.)"
_ATTEMPT_FACTS: Final = {
    AttemptStatus.COMPLETED: AttemptFact.COMPLETED,
    AttemptStatus.FAILED: AttemptFact.FAILED,
    AttemptStatus.INTERRUPTED: AttemptFact.INTERRUPTED,
    AttemptStatus.SUPERSEDED: AttemptFact.SUPERSEDED,
}
_NO_RESULT: Final = {
    CallState.DENIED: ResultStatus.DENIED,
    CallState.FINISHED: ResultStatus.UNKNOWN,
    CallState.NOT_RUN: ResultStatus.NOT_RUN,
}


def make_whole(history: Iterable[AnyEntity], *, at: str, gaps: int) -> tuple[list[Fact], int]:
    """What has to be added, and how many runs had not ended. `gaps`: how much of the file could not be taken over."""
    held: dict[str, AnyEntity] = {}
    for entity in history:
        held[entity.id] = entity
    whole = _Whole(held, at)
    for run_id in whole.run_ids():
        whole.run(run_id)
    whole.dedupe_answers()
    whole.queue()
    if gaps:
        whole.say_gaps(gaps)
    return whole.facts, whole.interrupted


class _Whole:
    def __init__(self, held: dict[str, AnyEntity], at: str) -> None:
        self.facts: list[Fact] = []
        self.interrupted = 0
        self._held = held
        self._at = at
        self._conversation = next(entity for entity in held.values() if isinstance(entity, Conversation))
        self._ords = {entity.ord for entity in held.values() if isinstance(entity, Item)}
        self._of_run: dict[str, list[str]] = {}
        for entity in held.values():
            match entity:
                case Attempt() | Item() | Request():
                    self._of_run.setdefault(entity.run_id, []).append(entity.id)
                case Run():
                    self._of_run.setdefault(entity.id, [])
                case Conversation():
                    pass

    def run_ids(self) -> list[str]:
        return list(self._of_run)

    def run(self, run_id: str) -> None:
        run = self._held.get(run_id)
        known = isinstance(run, Run)
        run = run if isinstance(run, Run) else self._lost_run(run_id)
        attempts = [entity for entity in self._under(run_id) if isinstance(entity, Attempt)]
        if run.status in (RunStatus.QUEUED, RunStatus.CANCELLED) and not (attempts or self._items(run_id)):
            if not run.content and run.user_item_id is None:
                self._put(RunFact.EDITED, replace(run, content=(_lost(),), at_once=False))
            elif run.status is RunStatus.QUEUED and run.at_once:
                self._put(RunFact.EDITED, replace(run, at_once=False))
            return
        if not run.ended and run.status is not RunStatus.FINALIZING:
            self.interrupted += 1
        self._settle_requests(run_id)
        self._settle_items(run_id)
        user_item = self._user_item(run)
        self._settle_run(run, known=known, user_item=user_item, attempts=attempts)

    def dedupe_answers(self) -> None:
        """An input is answered once."""
        answered: set[str] = set()
        for entity in list(self._held.values()):
            if isinstance(entity, Attempt):
                fresh = tuple(dict.fromkeys(item_id for item_id in entity.answers if item_id not in answered))
                answered.update(fresh)
                if fresh != entity.answers:
                    self._put(_fact_of(entity), replace(entity, answers=fresh))

    def queue(self) -> None:
        """Messages that waited go on waiting, until somebody lets them go."""
        waiting = any(isinstance(entity, Run) and entity.status is RunStatus.QUEUED for entity in self._held.values())
        if waiting and not self._conversation.queue_held:
            self._put(ConversationFact.QUEUE_HELD, replace(self._conversation, queue_held=True))

    def say_gaps(self, gaps: int) -> None:
        run_id = next(reversed(self._of_run), None)
        if run_id is not None:
            what = "1 part" if gaps == 1 else f"{gaps} parts"
            message = f"{what} of the imported file could not be taken over; `agent-ls import` said which."
            self._add(run_id, "gap", ItemKind.NOTICE, payload=Notice(code="import_gaps", message=message))

    def _lost_run(self, run_id: str) -> Run:
        """Known only by what belongs to it."""
        ordinal = int(run_id.rpartition(".r")[2])
        own = self._conversation.id
        return Run(id=run_id, conversation_id=own, ordinal=ordinal, status=RunStatus.RUNNING, created_at=self._at)

    def _settle_requests(self, run_id: str) -> None:
        for request in self._under(run_id):
            if not isinstance(request, Request):
                continue
            decided = request.decision is not None
            match request.status:
                case RequestStatus.PENDING:
                    cancelled = replace(request, status=RequestStatus.CANCELLED, decision=None, decided_at=self._at)
                    self._put(RequestFact.CANCELLED, cancelled)
                case RequestStatus.RESPONDING:
                    self._put(RequestFact.EXPIRED, replace(request, status=RequestStatus.EXPIRED, decision=None))
                case RequestStatus.RESOLVED if not decided:
                    self._put(RequestFact.CANCELLED, replace(request, status=RequestStatus.CANCELLED))
                case RequestStatus.EXPIRED | RequestStatus.CANCELLED if decided:
                    self._put(RequestFact.RESOLVED, replace(request, status=RequestStatus.RESOLVED))
                case _:
                    pass

    def _settle_items(self, run_id: str) -> None:
        for item in self._items(run_id):
            if isinstance(item.payload, Call):
                self._settle_call(item, item.payload)
            elif item.open:
                ended = ItemStatus.CANCELLED if item.status is ItemStatus.PENDING else ItemStatus.INTERRUPTED
                self._put(ItemFact.UPDATED, replace(item, status=ended, updated_at=self._at))

    def _settle_call(self, item: Item, call: Call) -> None:
        """Exactly one result, and truthful about what is known."""
        state, result = call.state, call.result
        if state in (CallState.AWAITING_APPROVAL, CallState.APPROVED) and call.walled is not None:
            ended = calls.kept_in(call.walled, "The run had not ended when it was exported.")
            state, result = CallState.FINISHED, ended
        if state not in SETTLED:
            ran = state is CallState.STARTED or result is not None
            state = CallState.FINISHED if ran else CallState.NOT_RUN
        if result is None:
            what = "No result was exported" if state is CallState.FINISHED else "Not run"
            result = ToolResult(status=_NO_RESULT[state], output=f"{what}: the run had not ended when it was exported.")
        settled = replace(call, state=state, result=result)
        status = calls.status_of(settled)
        if settled != call or status is not item.status:
            name = {CallState.FINISHED: CallFact.FINISHED, CallState.DENIED: CallFact.DENIED}
            whole = replace(item, payload=settled, status=status, updated_at=self._at)
            self._put(name.get(state, CallFact.NOT_RUN), whole)

    def _user_item(self, run: Run) -> Item:
        """The message of the run; where it is lost, one that says so in its place."""
        known = self._held.get(run.user_item_id or "")
        if isinstance(known, Item) and known.run_id == run.id:
            return known
        items = self._items(run.id)
        said = next((item for item in items if isinstance(item.payload, UserMessage)), None)
        if said is not None:
            return said
        message = UserMessage(content=run.content or (_lost(),), context=run.context)
        before = min((item.ord for item in items), default=0) - 1
        return self._add(run.id, "u", ItemKind.USER_MESSAGE, payload=message, place=before, created_at=run.created_at)

    def _settle_run(self, run: Run, *, known: bool, user_item: Item, attempts: Sequence[Attempt]) -> None:
        status: RunStatus = run.status if run.ended and run.status is not RunStatus.CANCELLED else RunStatus.INTERRUPTED
        active = next((a for a in attempts if a.id == run.active_attempt_id), None)
        active = active or (attempts[-1] if attempts else self._lost_attempt(run))
        if run.status is RunStatus.FINALIZING and active.status in ENDS_RUN:
            status = ENDS_RUN[active.status]
        if active.status is AttemptStatus.PENDING:
            active = replace(active, status=AttemptStatus.RUNNING)
            self._put(AttemptFact.RUNNING, active)
        expected = ENDED_BY.get(status, AttemptStatus.INTERRUPTED if active.live else active.status)
        answers = active.answers
        if status is RunStatus.COMPLETED and not any(user_item.id in attempt.answers for attempt in attempts):
            answers = (*answers, user_item.id)
        for other in attempts:
            if other.live and other.id != active.id:
                self._put(AttemptFact.SUPERSEDED, replace(other, status=AttemptStatus.SUPERSEDED))
        ended = replace(active, status=expected, answers=answers)
        if ended != self._held.get(active.id):
            self._put(_fact_of(ended), ended)
        if not run.ended and status is RunStatus.INTERRUPTED:
            self._add(run.id, "m", ItemKind.NOTICE, payload=_NOT_GONE_ON if known else _NOT_READ, attempt_id=active.id)
        for place, steer in enumerate(run.steers, start=1):
            self._put_behind(run, place, steer)
        whole = replace(
            run,
            status=status,
            steers=(),
            retry=None,
            content=(),
            context=(),
            position=None,
            user_item_id=user_item.id,
            active_attempt_id=active.id,
            ended_at=run.ended_at or self._at,
        )
        if whole != run or not known:
            self._put(RunFact(str(status)), whole)

    def _put_behind(self, run: Run, place: int, steer: Steer) -> None:
        """What was said to a run that took it in no more waits in the queue."""
        ordinal = len(self._of_run) + 1
        queued = queued_run(
            run.conversation_id,
            ordinal,
            content=steer.content,
            context=steer.context,
            position=place,
            at=steer.at or self._at,
        )
        self._put(RunFact.QUEUED, queued)

    def _lost_attempt(self, run: Run) -> Attempt:
        return Attempt(
            id=self._free(f"{run.id}.a"),
            run_id=run.id,
            conversation_id=run.conversation_id,
            n=1,
            reason=Reason.INITIAL,
            status=AttemptStatus.RUNNING,
            read_through=0,
            epoch=0,
            created_at=run.created_at,
        )

    def _add(
        self, run_id: str, name: str, kind: ItemKind, *, payload: Payload, place: int = 0,
        created_at: str | None = None, attempt_id: str | None = None,
    ) -> Item:  # fmt: skip
        ord_ = place if place > 0 and place not in self._ords else max(self._ords, default=0) + 1
        self._ords.add(ord_)
        item = Item(
            id=self._free(f"{run_id}.{name}"),
            conversation_id=self._conversation.id,
            run_id=run_id,
            ord=ord_,
            kind=kind,
            status=ItemStatus.COMPLETED,
            payload=payload,
            created_at=created_at or self._at,
            attempt_id=attempt_id,
        )
        self._put(ItemFact.ADDED, item)
        return item

    def _free(self, stem: str) -> str:
        n = 1
        while f"{stem}{n}" in self._held:
            n += 1
        return f"{stem}{n}"

    def _put(self, name: FactName, entity: AnyEntity) -> None:
        self.facts.append(Fact(name, entity, self._at))
        if isinstance(entity, Conversation):
            self._conversation = entity
        if isinstance(entity, Run):
            self._of_run.setdefault(entity.id, [])
        if entity.id not in self._held and isinstance(entity, Attempt | Item | Request):
            self._of_run.setdefault(entity.run_id, []).append(entity.id)
        self._held[entity.id] = entity

    def _under(self, run_id: str) -> list[AnyEntity]:
        return [self._held[id_] for id_ in self._of_run.get(run_id, ())]

    def _items(self, run_id: str) -> list[Item]:
        return [entity for entity in self._under(run_id) if isinstance(entity, Item)]


def _fact_of(attempt: Attempt) -> AttemptFact:
    return _ATTEMPT_FACTS.get(attempt.status, AttemptFact.CANCELLED)


def _lost() -> Block:
    return Block(type="text", text=LOST)


_NOT_GONE_ON: Final = Notice(
    code="imported",
    message="This run had not ended when the conversation was exported. It was not gone on with.",
    hint="Send a message to go on.",
)
_NOT_READ: Final = Notice(
    code="imported", message="How this run went on and ended could not be read from the imported file."
)
