"""The judge of a virtual world: sees every commit, every start of an effect and every answer, and says what is wrong.

Owns the promises of docs/architecture.md as they look from outside a daemon. Keeps its own fold of every conversation,
so that a daemon's view can be held against it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent_ls.adapters.ledger.memory import Store
from agent_ls.core.call import SETTLED, CallFact
from agent_ls.core.context import join, messages
from agent_ls.core.errors import Refusal
from agent_ls.core.events import Event
from agent_ls.core.ids import conversation_of
from agent_ls.core.invariants import check_history, violations
from agent_ls.core.items import Call, CallState, Item, ItemKind, ResultStatus, UserMessage
from agent_ls.core.locks import conflicts
from agent_ls.core.projection import ConversationState
from agent_ls.core.run import RunStatus
from agent_ls.ports.ledger import Commit, Receipt
from agent_ls.testing.world_editor import is_passing
from agent_ls.testing.world_link import Answer, Command
from agent_ls.testing.world_loop import Process
from agent_ls.testing.world_tools import EffectLog


@dataclass
class Judge:
    store: Store
    log: EffectLog
    tell: Callable[[str], None]
    closed: bool = False
    found: list[str] = field(default_factory=list)
    states: dict[str, ConversationState] = field(default_factory=dict)
    events: defaultdict[str, list[Event]] = field(default_factory=lambda: defaultdict(list))
    accepted: dict[str, tuple[Command, Mapping[str, Any]]] = field(default_factory=dict)
    starts: set[tuple[str, str]] = field(default_factory=set)
    held: dict[str, tuple[Process, tuple[str, ...]]] = field(default_factory=dict)
    late: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    reruns: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    def wrong(self, what: str) -> None:
        if self.closed:
            return
        self.tell(f"WRONG: {what}")
        self.found.append(what)

    def committed(self, process: Process, commit: Commit, events: Sequence[Event]) -> None:
        """In the moment of the commit, after the store has taken it."""
        known = commit.conversation_id
        state = self.states.setdefault(known, ConversationState())
        if self.store.owners.get(known) != process.name or self.store.epochs.get(known) != commit.epoch:
            self.wrong(f"{process.name} wrote to {known} without the claim")
        for event in events:
            if event.seq != state.seq + 1:
                self.wrong(f"4: {known} has {event.seq} after {state.seq}")
            if isinstance(event.entity, Item):
                self._note(process, event, event.entity, before=state.items.get(event.entity.id))
            state.apply(event.entity)
            state.seq = event.seq
            self.tell(f"{process.name}: {event.seq} {event.entity.id} {event.fact}")
        self.events[known] += events
        for what in violations(state, live=False, unsettled=self.store.effects.keys()):
            self.wrong(f"{known}.{state.seq}: {what}")

    def begins(self, process: Process, item_id: str, keys: tuple[str, ...]) -> None:
        """A call with effects begins, whatever the ledger says of it."""
        self.tell(f"{process.name}: begins {item_id}")
        if (item_id, process.name) not in self.starts:
            self.wrong(f"{item_id} began without a record")
        if self._is_late(process, item_id):
            self.wrong(f"{process.name} began {item_id} although another has taken it over")
        for other, (holder, theirs) in self.held.items():
            if holder is process and other != item_id and any(conflicts(a, b) for a in keys for b in theirs):
                self.wrong(f"{item_id} began while {other} had no result on record")
        self.held[item_id] = (process, keys)

    def happens(self, process: Process, item_id: str) -> None:
        """What began in time and stood still together with its daemon goes on when that does: docs/guarantees.md."""
        self.tell(f"{process.name}: did {item_id}")
        if self._is_late(process, item_id):
            self.late[item_id] += 1

    def answered(self, command: Command, answer: Answer) -> None:
        """What an editor is told has to be what the ledger keeps for this command."""
        receipt = self.store.receipts.get(command.id)
        self.tell(f"answer {command.id}: {answer.code if isinstance(answer, Refusal) else dict(answer)}")
        if isinstance(answer, Refusal):
            if receipt is not None and _refused(receipt) != answer and not is_passing(answer):
                self.wrong(f"{command.id} was refused with {answer.code}, on record is {receipt}")
            return
        if receipt is None or _told(receipt) != answer:
            self.wrong(f"5: {command.id} was answered {dict(answer)}, on record is {receipt}")
        self.accepted[command.id] = (command, answer)

    def finished(self) -> None:
        """The world has come to rest."""
        for known, state in self.states.items():
            kept = self.store.conversations[known].events
            if kept != self.events[known]:
                self.wrong(f"4: what was committed to {known} is not what it keeps")
            for what in check_history(kept):
                self.wrong(f"{known}: {what}")
            self._check_calls(state)
            self._check_messages(state)
        for command, answer in self.accepted.values():
            self._check_accepted(command, answer)
        self._check_queue()

    def _note(self, process: Process, event: Event, item: Item, *, before: Item | None) -> None:
        if not isinstance(item.payload, Call):
            return
        if event.fact == CallFact.STARTED:
            self.starts.add((item.id, process.name))
        # Recovery runs again what has begun; only a person runs again what has ended.
        if event.fact == CallFact.RERUN and before is not None and before.call.state is CallState.FINISHED:
            self.reruns[item.id] += 1
        if event.fact == CallFact.APPROVED and item.payload.walled is not None:
            self._check_let_out(item, before=before)
        if before is not None and before.call.state in SETTLED and item.payload.state in SETTLED:
            self.wrong(f"3: {item.id} has one result after the other")
        if item.payload.state is not CallState.STARTED:
            self.held.pop(item.id, None)

    def _check_let_out(self, item: Item, *, before: Item | None) -> None:
        """What failed in the sandbox runs outside once, when a person has said so about this call."""
        asked = self.states[item.conversation_id].requests[item.call.request_id or ""]
        if before is None or before.call.state is not CallState.AWAITING_APPROVAL or asked.item_id != item.id:
            self.wrong(f"{item.id} is let out of the sandbox unasked")
        if item.call.decided_by in (None, "rule"):
            self.wrong(f"{item.id} is let out of the sandbox by {item.call.decided_by}")
        self.reruns[item.id] += 1

    def _is_late(self, process: Process, item_id: str) -> bool:
        return self.store.owners.get(conversation_of(item_id)) != process.name

    def _check_calls(self, state: ConversationState) -> None:
        for item in state.items.values():
            if not isinstance(item.payload, Call) or item.payload.effect == "read":
                continue
            began, done = self.log.began[item.id], self.log.done[item.id]
            allowed = 1 + self.reruns[item.id] + self.late[item.id]
            if item.payload.effect == "shell" and began > allowed:
                self.wrong(f"{item.id} ran {began} times, {allowed} were asked for")
            if done > allowed:
                self.wrong(f"{item.id} had its effect {done} times, {allowed} were asked for")
            result = item.payload.result
            untold = item.payload.state in (CallState.DENIED, CallState.NOT_RUN)
            happened = began if item.payload.effect == "shell" else done
            if untold and happened > self.late[item.id]:
                self.wrong(f"3: {item.id} is {item.payload.state}, and it ran")
            if result is not None and result.status is ResultStatus.OK and not done and item.payload.effect != "other":
                self.wrong(f"3: {item.id} is told as done, and it was not")

    def _check_messages(self, state: ConversationState) -> None:
        """Each message of a person is in the transcript once, and what a model would be sent now is sound."""
        said = Counter(text for run_id in state.run_items for text in _words(state, run_id))
        # What is asked again stands there again, in a run of its own or in the one that it was sent on to.
        again = [run for run in state.runs.values() if run.retry_of is not None]
        waits = Counter(run.content[0].text for run in again if run.content)
        asked_again = waits + Counter(text for run in again for text in _words(state, run.id)[:1])
        for text, times in said.items():
            if text and not text.startswith("edited") and times > 1 + asked_again[text]:
                self.wrong(f"5: {text} stands there {times} times")
        join([messages(state.items_of(run), provider="p", model="m") for run in state.run_items])

    def _check_accepted(self, command: Command, answer: Mapping[str, Any]) -> None:
        state = self.states.get(command.conversation_id, ConversationState())
        if command.kind == "send":
            run = state.runs.get(answer["runId"])
            if run is None:
                self.wrong(f"5: {command.id} was accepted and is gone")
            elif not run.ended and not (run.status is RunStatus.QUEUED and state.conversation.queue_held):
                self.wrong(f"5: {command.id} was accepted and is still {run.status}")
        if command.kind == "respond" and answer.get("status") == "resolved":
            request = state.requests[command.given["request_id"]]
            if request.decision is not command.given["answer"].decision:
                self.wrong(f"6: {command.id} was taken, {request.id} says {request.decision}")

    def _check_queue(self) -> None:
        for effect in self.store.effects:
            self.wrong(f"1: {effect} is owed although everything has ended")
        for state in self.states.values():
            open_ = [
                item.id for item in state.items.values() if item.kind is ItemKind.QUESTION and item.status == "pending"
            ]
            if open_ and state.active is None:
                self.wrong(f"8: {open_} wait under ended runs")


def _words(state: ConversationState, run_id: str) -> list[str | None]:
    """With which each message of the run begins."""
    return [item.payload.content[0].text for item in state.items_of(run_id) if isinstance(item.payload, UserMessage)]


def _told(receipt: Receipt) -> Mapping[str, Any]:
    """What a receipt keeps for the daemon's own use has no letter in front."""
    return {name: value for name, value in (receipt.result or {}).items() if not name.startswith("_")}


def _refused(receipt: Receipt) -> Refusal | None:
    refusal = receipt.refusal
    if refusal is None:
        return None
    return replace(refusal, data={name: value for name, value in refusal.data.items() if not name.startswith("_")})
