"""A message that restarts: the attempt is superseded, what it still says is nobody's to hear, and the run goes on."""

from dataclasses import replace

from agent_ls.core import context, step, successor
from agent_ls.core.attempt import AttemptFact, AttemptStatus, Reason
from agent_ls.core.dispatch import Dispatch, send
from agent_ls.core.draft import Decision
from agent_ls.core.events import ConversationFact, Fact
from agent_ls.core.interrupt import interrupt
from agent_ls.core.items import AssistantMessage, CallState, ResultStatus, UserMessage
from agent_ls.core.messages import AssistantTurn, Reply, Stop, TextPart, UserTurn
from agent_ls.core.owed import AskModel, Begin, End, owed
from agent_ls.core.queue import QueueOp, QueueUpdate, update
from agent_ls.core.request import RequestStatus
from agent_ls.core.run import RunStatus
from tests.unit.core.world import ALLOW, ASK, World, call, message, stop

RUN = "c1.r1"


def sent(
    world: World, text: str = "no, this", dispatch: Dispatch = Dispatch.RESTART, **more: object
) -> dict[str, object]:
    decided = send(world.state, message(text, dispatch=dispatch, **more), world.now())
    return world.commit(decided).result


def begun(world: World, **said: object) -> None:
    due = owed(world.state)
    assert isinstance(due, Begin)
    world.commit(successor.begin(world.state, due.attempt_id, at=world.now(), **said))  # type: ignore[arg-type]


def texts(world: World, run: str = RUN) -> list[str]:
    found = []
    for item in world.state.items_of(run):
        match item.payload:
            case UserMessage(content=content):
                found.append(" | ".join(block.text or "" for block in content))
            case AssistantMessage(text=text):
                found.append(text)
            case _:
                pass
    return found


def test_the_run_goes_on_with_a_new_attempt_that_begins_when_the_old_one_is_over() -> None:
    world = World()
    world.say("do it")
    first = world.state.attempts[f"{RUN}.a1"]
    assert sent(world) == {"runId": RUN, "disposition": "restarted"}
    assert world.state.attempts[first.id].status is AttemptStatus.SUPERSEDED
    follows = world.state.attempts[f"{RUN}.a2"]
    assert (follows.status, follows.reason) == (AttemptStatus.PENDING, Reason.STEERING_RESTART)
    assert world.unsettled == {follows.id}
    assert texts(world) == ["do it"]
    begun(world, said=[(0, TextPart("I thi"))], by=first)
    assert texts(world) == ["do it", "I thi", "no, this"]
    assert owed(world.state) == AskModel(RUN, follows.id)
    sent_to_model = context.messages(world.state.items_of(RUN), provider="p", model="m")
    assert [type(turn) for turn in sent_to_model] == [UserTurn, AssistantTurn, UserTurn]


def test_the_end_of_a_superseded_attempt_is_swallowed() -> None:
    world = World()
    world.say("do it")
    first = world.state.attempts[f"{RUN}.a1"]
    sent(world)
    late = Reply((TextPart("done"),), Stop.END_TURN)
    assert step.take_reply(world.state, first, late, triage=[], at="t") is None
    begun(world)
    assert step.take_reply(world.state, first, late, triage=[], at="t") is None
    assert world.state.runs[RUN].status is RunStatus.RUNNING


def test_what_waits_is_settled_at_once_and_what_runs_before_the_next_attempt() -> None:
    world = World()
    world.say("do it")
    asked, allowed, running = world.reply((ASK, call()), (ALLOW, call()), (ALLOW, call()))
    world.commit(step.move_item(world.state, running.id, "started", at="t"))  # type: ignore[arg-type]
    sent(world)
    assert world.request(asked).status is RequestStatus.CANCELLED
    states = [world.state.items[item.id].call.state for item in (asked, allowed, running)]
    assert states == [CallState.NOT_RUN, CallState.NOT_RUN, CallState.STARTED]
    begun(world)
    closed = world.state.items[running.id].call.result
    assert closed is not None
    assert closed.status is ResultStatus.UNKNOWN


def test_a_second_one_before_the_attempt_has_begun_joins_the_first() -> None:
    world = World()
    world.say("do it")
    sent(world, "this")
    assert sent(world, "and that")["disposition"] == "restarted"
    assert len(world.state.attempts) == 2
    begun(world)
    assert texts(world) == ["do it", "this", "and that"]


def test_after_an_answer_a_run_of_its_own_takes_the_place_of_the_one_that_goes_on() -> None:
    world = World()
    world.say("do it")
    world.say("later", Dispatch.QUEUE)
    sent(world, "also", Dispatch.STEER)
    world.reply(text="done")
    assert world.state.attempts[f"{RUN}.a1"].answers == (f"{RUN}.u1",)
    assert sent(world) == {"runId": "c1.r3", "disposition": "restarted"}
    assert world.state.runs["c1.r3"].supersedes == RUN
    assert owed(world.state) == End(RUN, AttemptFact.INTERRUPTED)
    world.commit(step.end(world.state, RUN, AttemptFact.INTERRUPTED, at="t"))
    assert world.state.active is not None
    assert (world.state.active.id, world.state.conversation.queue_held) == ("c1.r3", False)
    assert [run.id for run in world.state.queue()] == ["c1.r2"]


def test_a_stop_after_it_holds_what_was_to_take_the_place() -> None:
    world = World()
    world.say("do it")
    sent(world, "also", Dispatch.STEER)
    world.reply(text="done")
    sent(world)
    world.commit(interrupt(world.state, RUN, stop()))
    world.commit(step.end(world.state, RUN, AttemptFact.INTERRUPTED, at="t"))
    assert (world.state.active, world.state.conversation.queue_held) == (None, True)


def test_a_stop_before_the_new_attempt_ends_the_run_and_keeps_the_message() -> None:
    world = World()
    world.say("do it")
    sent(world)
    world.commit(interrupt(world.state, RUN, stop()))
    world.commit(step.end(world.state, RUN, AttemptFact.INTERRUPTED, at="t"))
    assert world.state.runs[RUN].status is RunStatus.INTERRUPTED
    assert [run.content[0].text for run in world.state.queue()] == ["no, this"]
    assert world.unsettled == set()


def test_another_model_cannot_join_so_a_message_restarts() -> None:
    for dispatch in (Dispatch.AUTO, Dispatch.STEER):
        world = World()
        world.say("do it")
        changed = replace(world.state.conversation, model="other")
        world.commit(Decision((Fact(ConversationFact.UPDATED, changed),)))
        assert sent(world, dispatch=dispatch)["disposition"] == "restarted"
        assert [attempt.model for attempt in world.state.attempts.values()] == ["m", "other"]


def test_what_is_sent_while_a_run_is_stopped_starts_when_that_is_over_past_the_held_queue() -> None:
    world = World()
    world.say("do it")
    world.say("later", Dispatch.QUEUE)
    world.commit(interrupt(world.state, RUN, stop()))
    assert sent(world, "now", Dispatch.AUTO)["disposition"] == "queued"
    world.commit(step.end(world.state, RUN, AttemptFact.INTERRUPTED, at="t"))
    assert world.state.active is not None
    assert (world.state.active.id, world.state.conversation.queue_held) == ("c1.r3", True)


def test_a_promoted_message_joins_with_the_model_of_now() -> None:
    world = World()
    world.say("do it")
    waiting = world.say("and that", Dispatch.QUEUE)
    changed = replace(world.state.conversation, model="other")
    world.commit(Decision((Fact(ConversationFact.UPDATED, changed),)))
    world.commit(update(world.state, QueueUpdate(op=QueueOp.PROMOTE, run_id=waiting), "t"))
    assert world.state.attempts[f"{RUN}.a2"].reason is Reason.STEERING_RESTART
