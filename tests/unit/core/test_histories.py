"""Whole histories of a conversation, driven as the runtime drives one, with the real deciders and nothing else.

After every step the invariants hold, the history is legal, a replay gives the same state, and what a model would be
sent is accepted by every server. However a history went, it comes to rest.
"""

from dataclasses import dataclass, replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from agent_ls.core import finalize, plans, recovery, retry, step, successor, wait, walls
from agent_ls.core.attempt import AttemptFact
from agent_ls.core.call import SETTLED, WALLED, CallFact
from agent_ls.core.context import asked, join, messages
from agent_ls.core.failure import Cause, Failure
from agent_ls.core.invariants import check_history, violations
from agent_ls.core.items import Item, ItemKind, ItemStatus, Notice, ResultStatus, ToolResult
from agent_ls.core.locks import conflicts
from agent_ls.core.messages import CallPart, Part, ReasoningPart, Reply, ResultsTurn, Stop, TextPart, UserTurn
from agent_ls.core.owed import AskModel, Begin, Capture, End, Join, Nothing, RunCalls, Wait, owed
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Amended
from agent_ls.core.request import Decision as Answered
from agent_ls.core.steer import join_now
from agent_ls.core.step import TriageVerdict
from tests.unit.core.forked import faults
from tests.unit.core.person import RARELY, TEXTS, Person
from tests.unit.core.world import ALLOW, ASK, DENY, INVALID, call, illegal, is_call

KEYS = st.lists(st.sampled_from(["file:///w", "file:///w/a", "file:///w/b"]), max_size=2, unique=True)
EFFECTS = st.sampled_from(["read", "edit", "shell"])
RESULTS = st.sampled_from([ResultStatus.OK, ResultStatus.ERROR, ResultStatus.TIMEOUT])
LOST = st.sampled_from([ResultStatus.OK, ResultStatus.UNKNOWN, None])
NETWORK = Failure(Cause.NETWORK, "The connection broke.")
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


class Histories(Person):
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
            case Wait() as pause:
                self.decide(wait.over(self.state, pause.run_id, self.world.now()))
            case Begin() as begin if not self.running:
                by, self.asking = self.asking, None
                said = [] if by is None else [(0, TextPart("so far"))]
                self.decide(successor.begin(self.state, begin.attempt_id, said=said, by=by, at=self.world.now()))
            case Capture() as capture:
                self.decide(finalize.captured(self.state, capture.run_id, self.world.now(), trouble=self.trouble))
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
            asks = replace(judged, call=replace(wanted, keys=()))
            return (
                replace(asks, plan="# Plan", options=plans.OPTIONS)
                if wish.early
                else replace(asks, questions=(QUESTION,))
            )
        early = wish.verdict is ALLOW and wish.effect == "read" and wish.early
        return replace(judged, result=ToolResult(status=ResultStatus.OK)) if early else judged

    @precondition(lambda self: self.asking)
    @rule(text=TEXTS, rarely=RARELY)
    def model_fails(self, text: str, *, rarely: bool) -> None:
        if not rarely:
            return
        asked, self.asking = self.asking, None
        assert asked is not None
        if self.state.runs[asked.run_id].interrupt is None and self.state.attempts[asked.id].live:
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

    @precondition(lambda self: self.asking)
    @rule(text=TEXTS, shown=st.booleans(), rarely=RARELY)
    def model_is_asked_again(self, text: str, *, shown: bool, rarely: bool) -> None:
        asked, self.asking = self.asking, None
        assert asked is not None
        plan = retry.plan(NETWORK, retries=0 if rarely else 1, most=None, jitter=0.5, now=self.world.now())
        assert isinstance(plan, retry.Plan)
        trouble = wait.Trouble(plan=plan, message="It broke.", shown=shown)
        said = [(0, TextPart(text))] if shown else []
        self.decide(wait.note(self.state, asked, trouble, said=said, at=self.world.now()))

    @precondition(lambda self: self.running)
    @rule(data=st.data(), status=RESULTS, output=TEXTS)
    def call_ends(self, data: st.DataObject, status: ResultStatus, output: str) -> None:
        item = self.state.items[data.draw(st.sampled_from(self.running))]
        self.running.remove(item.id)
        learned = {"uri": "file:///w/a", "hash": self.world.now(), "cwd": f"/w/{len(self.world.events)}"}
        learned["steps"] = data.draw(STEPS)
        self.finish(item, ToolResult(status=status, output=output, data=learned))

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def its_sandbox_makes_a_call_fail(self, data: st.DataObject) -> None:
        item = self.state.items[data.draw(st.sampled_from(self.running))]
        self.world.number += 1
        result = ToolResult(status=ResultStatus.ERROR, output="no", data={WALLED: {"why": "it may not", "said": "no"}})
        outside = Amended(call=item.call, title="outside", card={})
        number, at = self.world.number, self.world.now()
        held = walls.hold(self.state, item.id, result, outside=outside, number=number, at=at)
        if held is not None:
            self.decide(held)
            self.running.remove(item.id)

    @precondition(lambda self: self.running)
    @rule()
    def all_calls_end(self) -> None:
        for item_id in self.running:
            self.finish(self.state.items[item_id], ToolResult(status=ResultStatus.OK))
        self.running.clear()

    @rule(trouble=st.sampled_from(["", "The disk is full."]))
    def files_can_be_kept(self, trouble: str) -> None:
        self.trouble = trouble

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
        if isinstance(owed(self.state), AskModel):
            assert isinstance(asked(join(sent))[-1], UserTurn | ResultsTurn)

    @invariant()
    def a_fork_of_it_would_be_sound(self) -> None:
        assert faults(self.state) == []

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


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
