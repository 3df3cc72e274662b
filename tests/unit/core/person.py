"""What a person does to a conversation: says, answers, stops, reorders, asks again; as rules of a state machine.

Owns the bookkeeping of what was taken. Whoever drives the conversation (test_histories.py) has the other rules.
"""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from agent_ls.core import step
from agent_ls.core.ask_again import AGAIN, ask_again
from agent_ls.core.attempt import Attempt
from agent_ls.core.call import SETTLED
from agent_ls.core.dispatch import Dispatch, send
from agent_ls.core.draft import Decision
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import ConversationFact, Fact
from agent_ls.core.interrupt import interrupt, interrupt_call
from agent_ls.core.items import Item, ResultStatus, ToolResult
from agent_ls.core.projection import ConversationState
from agent_ls.core.queue import QueueOp, QueueUpdate
from agent_ls.core.queue import update as update_queue
from agent_ls.core.request import Decision as Answered
from agent_ls.core.request import Request, RequestKind
from agent_ls.core.respond import respond
from agent_ls.core.run import RunStatus
from agent_ls.core.wait import hurry
from tests.unit.core.world import World, answer, is_call, message, stop

TEXTS = st.sampled_from(["", "  ", "yes", "no"])
RARELY = st.sampled_from([False, False, False, False, True])


class Person(RuleBasedStateMachine):
    """`asking`: the request to a model in flight. `running`: calls that a task works on, in the order they began."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.asking: Attempt | None = None
        self.running: list[str] = []
        self.accepted = 0
        self.promoted: set[str | None] = set()
        self.trouble = ""

    @property
    def state(self) -> ConversationState:
        return self.world.state

    # What a person does.

    @rule(text=TEXTS, dispatch=st.sampled_from(Dispatch), data=st.data())
    def say(self, text: str, dispatch: Dispatch, data: st.DataObject) -> None:
        target = data.draw(st.sampled_from([None, *self.state.runs]))
        said = message(text, dispatch=dispatch, target_run_id=target)
        self.taken(send(self.state, said, self.world.now()))

    def taken(self, decided: Decision | Refusal) -> None:
        """What was said joins the run that goes on or is a run of its own, never both."""
        before, going = set(self.state.runs), self.state.active
        self.decide(decided)
        if not isinstance(decided, Decision):
            return
        self.accepted += 1
        joined = decided.result["disposition"] == "steered" or decided.result["runId"] in before
        assert set(self.state.runs) - before == (set() if joined else {decided.result["runId"]})
        assert not joined or (going is not None and decided.result["runId"] == going.id)

    @precondition(lambda self: self.state.runs)
    @rule(data=st.data())
    def ask_again(self, data: st.DataObject) -> None:
        run_id = data.draw(st.sampled_from(list(self.state.runs)))
        decided = ask_again(self.state, run_id, self.world.now())
        if isinstance(decided, Decision) and decided.result["runId"] in self.state.runs:
            assert not decided.facts
        else:
            self.taken(decided)
        assert isinstance(decided, Refusal) is (self.state.runs[run_id].status not in AGAIN)
        if isinstance(decided, Decision):
            assert self.state.runs[str(decided.result["runId"])].retry_of == run_id

    @precondition(lambda self: self.state.runs)
    @rule(data=st.data())
    def hurry(self, data: st.DataObject) -> None:
        run_id = data.draw(st.sampled_from(list(self.state.runs)))
        self.decide(hurry(self.state, run_id, self.world.now()))

    @rule(model=st.sampled_from(["m", "other"]))
    def choose_a_model(self, model: str) -> None:
        changed = replace(self.state.conversation, model=model)
        self.world.commit(Decision((Fact(ConversationFact.UPDATED, changed),)))

    @precondition(lambda self: self.state.items)
    @rule(data=st.data())
    def stop_one_call(self, data: st.DataObject) -> None:
        item = self.state.items[data.draw(st.sampled_from(list(self.state.items)))]
        done = self.decide(interrupt_call(self.state, item.run_id, item.id, stop=stop()))
        assert isinstance(done, Refusal) is not is_call(item)
        if item.id in self.running:
            # A read that was not yet said to run is settled; what is on record as begun ends with its own words.
            self.running.remove(item.id)
            self.finish(item, ToolResult(status=ResultStatus.INTERRUPTED, output="begun"))

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
        if was.ended or was.status is RunStatus.FINALIZING:
            assert done.facts == ()

    @precondition(lambda self: self.state.pending)
    @rule(data=st.data())
    def decide_one(self, data: st.DataObject) -> None:
        request = data.draw(st.sampled_from(list(self.state.pending.values())))
        if request.questions:
            option = data.draw(st.sampled_from(request.options))
            self.answer(request, option.decision, digest=request.digest, option_id=option.id)
        elif request.kind is RequestKind.PLAN and data.draw(st.booleans()):
            changed = {"markdown": data.draw(st.sampled_from(["# Plan", "# Other"]))}
            decision = data.draw(st.sampled_from([Answered.ALLOW, Answered.ANSWER]))
            self.answer(request, decision, digest=request.digest, input=changed)
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
            changed = request.kind is RequestKind.PLAN and decision is Answered.ANSWER
            assert self.state.requests[request.id].pending is changed
            # A plan that is accepted is a message of its own.
            self.accepted += request.kind is RequestKind.PLAN and decision is Answered.ALLOW
            # Reads beside it that had not ended are settled; nobody waits for them.
            self.running = [known for known in self.running if self.state.items[known].call.state not in SETTLED]

    # What comes of it.

    def finish(self, item: Item, result: ToolResult) -> None:
        self.decide(step.finish_call(self.state, item.id, result, at=self.world.now()))

    def decide(self, decided: Decision | Refusal | None) -> Any:
        """Commits a decision; a refusal or "nothing to do" changes nothing."""
        return self.world.commit(decided) if isinstance(decided, Decision) else decided
