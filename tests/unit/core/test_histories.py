"""Whole histories of a conversation, driven as the runtime drives one, with the real deciders and nothing else.

After every step the invariants hold, the history is legal, a replay gives the same state, and what a model would be
sent is accepted by every server. However a history went, it comes to rest.
"""

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agent_ls.core import recovery, step
from agent_ls.core.attempt import Attempt, AttemptFact
from agent_ls.core.call import SETTLED, CallFact
from agent_ls.core.context import join, messages
from agent_ls.core.dispatch import Dispatch, send
from agent_ls.core.draft import Decision
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.interrupt import interrupt
from agent_ls.core.invariants import check_history, violations
from agent_ls.core.items import Item, ItemKind, ItemStatus, Notice, ResultStatus, ToolResult
from agent_ls.core.locks import conflicts
from agent_ls.core.messages import CallPart, Part, ReasoningPart, Reply, Stop, TextPart
from agent_ls.core.owed import AskModel, End, Join, Nothing, RunCalls, owed
from agent_ls.core.projection import ConversationState
from agent_ls.core.queue import QueueOp, QueueUpdate
from agent_ls.core.queue import update as update_queue
from agent_ls.core.request import Decision as Answered
from agent_ls.core.request import Request
from agent_ls.core.respond import respond
from agent_ls.core.steer import join_now
from agent_ls.core.step import TriageVerdict
from tests.unit.core.world import ALLOW, ASK, DENY, INVALID, World, answer, call, illegal, is_call, message, stop

TEXTS = st.sampled_from(["", "  ", "yes", "no"])
KEYS = st.lists(st.sampled_from(["file:///w", "file:///w/a", "file:///w/b"]), max_size=2, unique=True)
EFFECTS = st.sampled_from(["read", "edit", "shell"])
RESULTS = st.sampled_from([ResultStatus.OK, ResultStatus.ERROR, ResultStatus.TIMEOUT])
RARELY = st.sampled_from([False, False, False, False, True])
LOST = st.sampled_from([ResultStatus.OK, ResultStatus.UNKNOWN, None])
QUESTION = {"id": "which", "text": "Which?", "options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]}
STEPS = st.lists(st.builds(lambda status: {"text": "x", "status": status}, st.sampled_from(["active", "done"])))


@dataclass(frozen=True)
class Wish:
    """A call that a model makes, and how it will be judged."""

    verdict: TriageVerdict
    effect: str
    keys: tuple[str, ...]
    raw: str
    early: bool


WISHES = st.builds(
    Wish,
    st.sampled_from([ALLOW, ALLOW, ALLOW, ASK, ASK, DENY, INVALID]),
    EFFECTS,
    KEYS.map(tuple),
    st.sampled_from(["{", "[", "]", "(", "nonsense"]),
    st.booleans(),
)


class Histories(RuleBasedStateMachine):
    """`asking`: the request to a model in flight. `running`: calls that a task works on, in the order they began."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.asking: Attempt | None = None
        self.running: list[str] = []
        self.accepted = 0
        self.promoted: set[str | None] = set()

    @property
    def state(self) -> ConversationState:
        return self.world.state

    # What a person does.

    @rule(text=TEXTS, dispatch=st.sampled_from(Dispatch), data=st.data())
    def say(self, text: str, dispatch: Dispatch, data: st.DataObject) -> None:
        target = data.draw(st.sampled_from([None, *self.state.runs]))
        before = len(self.state.runs)
        said = message(text, dispatch=dispatch, target_run_id=target)
        decided = send(self.state, said, self.world.now())
        self.decide(decided)
        taken = isinstance(decided, Decision)
        self.accepted += taken
        steered = isinstance(decided, Decision) and decided.result["disposition"] == "steered"
        assert len(self.state.runs) == before + (taken and not steered)

    @precondition(lambda self: self.state.runs)
    @rule(op=st.sampled_from(QueueOp), text=TEXTS, data=st.data())
    def queue(self, op: QueueOp, text: str, data: st.DataObject) -> None:
        run_id, before = (data.draw(st.sampled_from([None, *self.state.runs])) for _ in range(2))
        change = QueueUpdate(op=op, run_id=run_id, content=message(text).content, before=before)
        decided = update_queue(self.state, change, self.world.now())
        if op is QueueOp.PROMOTE and isinstance(decided, Decision) and decided.result["runId"] != run_id:
            self.promoted.add(run_id)
        self.decide(decided)

    @precondition(lambda self: self.state.runs)
    @rule(data=st.data(), hold=st.booleans(), rarely=RARELY)
    def interrupt(self, data: st.DataObject, *, hold: bool, rarely: bool) -> None:
        """What goes on is seldom stopped, so that histories get long."""
        run_id = data.draw(st.sampled_from(list(self.state.runs)))
        if self.state.active is not None and self.state.active.id == run_id and not rarely:
            return
        was = self.state.runs[run_id]
        done = self.decide(interrupt(self.state, run_id, stop(hold_queue=hold)))
        assert isinstance(done, Decision)
        if was.ended or was.interrupt is not None:
            assert done.facts == ()

    @precondition(lambda self: self.state.pending)
    @rule(data=st.data())
    def decide_one(self, data: st.DataObject) -> None:
        request = data.draw(st.sampled_from(list(self.state.pending.values())))
        if request.questions:
            option = data.draw(st.sampled_from(request.options))
            self.answer(request, option.decision, digest=request.digest, option_id=option.id)
        else:
            decision = data.draw(st.sampled_from([Answered.ALLOW, Answered.ALLOW, Answered.DENY]))
            self.answer(request, decision, digest=request.digest)

    @precondition(lambda self: self.state.requests)
    @rule(data=st.data(), decision=st.sampled_from(Answered), right=st.booleans(), rarely=RARELY)
    def respond(self, data: st.DataObject, decision: Answered, *, right: bool, rarely: bool) -> None:
        request = self.state.requests[data.draw(st.sampled_from(list(self.state.requests)))]
        if decision is Answered.CANCEL and request.pending and not rarely:
            return
        option = data.draw(st.sampled_from([None, *(option.id for option in request.options)]))
        digest = request.digest if right else "something else"
        self.answer(request, decision, digest=digest, option_id=option)

    def answer(self, request: Request, decision: Answered, **fields: Any) -> None:
        given = answer(decision, at=self.world.now(), **fields)
        done = self.decide(respond(self.state, request.id, given))
        if not request.pending and isinstance(done, Refusal):
            assert done.code in (Code.ALREADY_DECIDED, Code.NOT_RESUMABLE)
        elif not request.pending:
            assert done.facts == ()
            assert decision in (request.decision, Answered.CANCEL)
            assert fields.get("option_id") == request.option_id or decision is not Answered.ANSWER
        elif fields["digest"] != request.digest:
            assert isinstance(done, Refusal)
        elif isinstance(done, Decision):
            assert not self.state.requests[request.id].pending

    # What the driver, the ring and the batch do.

    @precondition(lambda self: self.state.active)
    @rule(wishes=st.lists(WISHES, min_size=1, max_size=4), thought=st.booleans())
    def go_on(self, wishes: list[Wish], *, thought: bool) -> None:
        """The usual way: the model is asked and makes calls, those that may begin do."""
        self.work()
        if self.asking is not None:
            self.reply(wishes=wishes, text="", thought=thought, twice=False, end=Stop.END_TURN)
        self.work()

    @rule()
    def work(self) -> None:
        """One look at what is owed, as the driver takes it."""
        match owed(self.state):
            case AskModel() as ask if self.asking is None:
                attempt = self.state.attempts[ask.attempt_id]
                assert all(item.call.state in SETTLED for item in self.state.step_calls(attempt))
                self.asking = attempt
            case RunCalls() as runnable:
                for item_id in runnable.item_ids:
                    self.begin(self.state.items[item_id])
            case Join() as border if self.asking is None:
                assert not self.running
                self.decide(join_now(self.state, border.run_id, self.world.now()))
            case End() as end if self.asking is None and not self.running:
                said = [(0, TextPart("so far"))]
                self.decide(step.end(self.state, end.run_id, end.outcome, said=said, at=self.world.now()))
            case _:
                pass

    def begin(self, item: Item) -> None:
        if item.id in self.running:
            return
        if item.call.effect != "read":
            for earlier in self.state.step_calls(self.state.attempts[item.attempt_id or ""]):
                if earlier.ord < item.ord and any(conflicts(a, b) for a in item.call.keys for b in earlier.call.keys):
                    assert earlier.call.state in SETTLED or earlier.id in self.running, "overtakes a call before it"
            self.world.commit(step.move_item(self.state, item.id, CallFact.STARTED, at=self.world.now()))
        self.running.append(item.id)

    @precondition(lambda self: self.asking)
    @rule(
        wishes=st.lists(WISHES, max_size=4),
        text=TEXTS,
        thought=st.booleans(),
        twice=st.booleans(),
        end=st.sampled_from([Stop.END_TURN, Stop.MAX_TOKENS, Stop.REFUSAL]),
    )
    def reply(self, wishes: list[Wish], text: str, *, thought: bool, twice: bool, end: Stop) -> None:
        asked, self.asking = self.asking, None
        assert asked is not None
        if self.state.runs[asked.run_id].interrupt is not None:
            return
        parts: list[Part] = [ReasoningPart("hm", {"raw": 1})] if thought else []
        parts.append(TextPart(text))
        first = len(parts)
        parts += [CallPart("n", wish.effect, wish.raw) for wish in wishes]
        triage = [self.judged(first + n, wish) for n, wish in enumerate(wishes)]
        answered = Reply(tuple(parts), Stop.TOOL_CALLS if wishes else end)
        for _ in range(1 + twice):
            taken = step.take_reply(self.state, asked, answered, triage=triage, at=self.world.now())
            if taken is not None:
                self.world.commit(taken)
                twice = False
        assert not self.state.attempts[asked.id].live or self.state.attempts[asked.id].steps == asked.steps + 1

    def judged(self, part: int, wish: Wish) -> step.Triage:
        raw = wish.raw if wish.verdict is TriageVerdict.INVALID else None
        wanted = call(wish.effect, keys=wish.keys, effect=wish.effect, raw_arguments=raw)
        judged = self.world.judged(part, wish.verdict, wanted)
        if wish.verdict is ASK and wish.effect == "read":
            return replace(judged, call=replace(wanted, keys=()), questions=(QUESTION,))
        early = wish.verdict is ALLOW and wish.effect == "read" and wish.early
        return replace(judged, result=ToolResult(status=ResultStatus.OK)) if early else judged

    @precondition(lambda self: self.asking)
    @rule(text=TEXTS, rarely=RARELY)
    def model_fails(self, text: str, *, rarely: bool) -> None:
        if not rarely:
            return
        asked, self.asking = self.asking, None
        assert asked is not None
        if self.state.runs[asked.run_id].interrupt is None:
            error = Notice(code="rate_limited", message="later")
            self.decide(
                step.end(
                    self.state,
                    asked.run_id,
                    AttemptFact.FAILED,
                    said=[(0, TextPart(text))],
                    error=error,
                    at=self.world.now(),
                )
            )

    @precondition(lambda self: self.running)
    @rule(data=st.data(), status=RESULTS, output=TEXTS)
    def call_ends(self, data: st.DataObject, status: ResultStatus, output: str) -> None:
        item = self.state.items[data.draw(st.sampled_from(self.running))]
        self.running.remove(item.id)
        learned = {"uri": "file:///w/a", "hash": self.world.now(), "cwd": f"/w/{len(self.world.events)}"}
        learned["steps"] = data.draw(STEPS)
        self.finish(item, ToolResult(status=status, output=output, data=learned))

    def finish(self, item: Item, result: ToolResult) -> None:
        self.decide(step.finish_call(self.state, item.id, result, at=self.world.now()))

    @precondition(lambda self: self.running)
    @rule()
    def all_calls_end(self) -> None:
        for item_id in self.running:
            self.finish(self.state.items[item_id], ToolResult(status=ResultStatus.OK))
        self.running.clear()

    @precondition(lambda self: self.state.active and self.state.active.interrupt)
    @rule()
    def stop_takes_effect(self) -> None:
        self.asking = None
        for item_id in self.running:
            self.finish(self.state.items[item_id], ToolResult(status=ResultStatus.INTERRUPTED, output="begun"))
        self.running.clear()

    # What befalls a daemon.

    @rule(data=st.data(), partial=TEXTS)
    def crash(self, data: st.DataObject, partial: str) -> None:
        self.asking = None
        self.running.clear()
        epoch = self.state.epoch + 1
        self.world.state = ConversationState.of(self.world.entities(), len(self.world.events))
        self.state.epoch = epoch
        for item in recovery.lost_calls(self.state):
            status = None if item.call.effect == "read" else data.draw(LOST)
            self.recover(item, status)
        self.decide(recovery.drop_partial(self.state, partial, self.world.now()))

    def recover(self, item: Item, status: ResultStatus | None) -> None:
        at = self.world.now()
        if status is None:
            self.decide(recovery.start_again(self.state, item.id, at))
            return
        self.world.number += 1
        result = ToolResult(status=status)
        self.decide(recovery.settle_lost(self.state, item.id, result, number=self.world.number, at=at))

    # What holds after every step.

    @invariant()
    def the_invariants_hold(self) -> None:
        assert violations(self.state, live=False, unsettled=self.world.unsettled) == []

    @invariant()
    def the_history_is_legal(self) -> None:
        assert check_history(self.world.events) == []

    @invariant()
    def a_replay_gives_the_same_state(self) -> None:
        folded = ConversationState()
        for event in self.world.events:
            folded.apply(event.entity)
        folded.seq, folded.epoch = self.state.seq, self.state.epoch
        loaded = ConversationState.of(self.world.entities(), self.state.seq)
        loaded.epoch = self.state.epoch
        assert vars(folded) == vars(self.state)
        assert vars(loaded) == vars(self.state)

    @invariant()
    def what_a_model_is_sent_is_legal(self) -> None:
        sent = [messages(self.state.items_of(run), provider="p", model="m") for run in self.state.run_items]
        assert illegal(join(sent)) == []

    @invariant()
    def nobody_can_be_left_waiting(self) -> None:
        """A run that goes on is worked on, or a person can answer it."""
        busy = self.asking is not None or self.running or not isinstance(owed(self.state), Nothing)
        assert self.state.active is None or busy or self.state.pending

    def teardown(self) -> None:
        """Whatever happened: when people answer, calls end and the model has nothing more to ask, it comes to rest."""
        for _ in range(20 + 10 * (len(self.state.runs) + len(self.state.items))):
            for request in list(self.state.pending.values()):
                decision, option = (
                    (Answered.ANSWER, request.options[0].id) if request.questions else (Answered.DENY, None)
                )
                self.answer(request, decision, digest=request.digest, option_id=option)
            self.work()
            if self.asking is not None:
                self.reply(wishes=[], text="done", thought=False, twice=False, end=Stop.END_TURN)
            for item_id in self.running:
                self.finish(self.state.items[item_id], ToolResult(status=ResultStatus.OK))
            self.running.clear()
        assert self.state.active is None
        assert not self.state.queued or self.state.conversation.queue_held
        assert all(not is_call(item) or item.status is not ItemStatus.PENDING for item in self.state.items.values())
        assert self.world.unsettled == set()
        assert all(run.user_item_id is not None or run.ended or run.content for run in self.state.runs.values())
        said = [item for item in self.state.items.values() if item.kind is ItemKind.USER_MESSAGE]
        not_begun = [run for run in self.state.runs.values() if run.started_at is None and run.id not in self.promoted]
        assert not any(run.steers for run in self.state.runs.values())
        assert len(said) + len(not_begun) == self.accepted, "each message taken is in the transcript or waits, once"
        self.the_invariants_hold()
        self.the_history_is_legal()
        self.what_a_model_is_sent_is_legal()

    def decide(self, decided: Decision | Refusal | None) -> Any:
        """Commits a decision; a refusal or "nothing to do" changes nothing."""
        return self.world.commit(decided) if isinstance(decided, Decision) else decided


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
