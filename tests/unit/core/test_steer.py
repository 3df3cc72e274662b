"""A steer joins at a step border, a run does not end over it, and none is lost when a run ends first."""

from agent_ls.core import context, step
from agent_ls.core.attempt import AttemptFact
from agent_ls.core.dispatch import Dispatch, send
from agent_ls.core.draft import Decision
from agent_ls.core.interrupt import interrupt
from agent_ls.core.messages import AssistantTurn, Reply, Stop, TextPart, UserTurn
from agent_ls.core.owed import AskModel, Join, Nothing, owed
from agent_ls.core.run import Interrupt, RunStatus
from agent_ls.core.steer import join_now
from tests.unit.core.world import World, message

RUN = "c1.r1"


def steered(world: World, text: str = "also this") -> dict[str, object]:
    decided = send(world.state, message(text, dispatch=Dispatch.STEER), "t")
    assert isinstance(decided, Decision)
    world.commit(decided)
    return decided.result


def answered(world: World, text: str) -> None:
    attempt = world.state.attempts[f"{RUN}.a1"]
    reply = Reply((TextPart(text),), Stop.END_TURN)
    decided = step.take_reply(world.state, attempt, reply, triage=[], at="t")
    assert decided is not None
    world.commit(decided)


def spoken(world: World) -> list[tuple[str, str]]:
    found = []
    for turn in context.messages(world.state.items_of(RUN), provider="p", model="m"):
        match turn:
            case UserTurn(content=content):
                found.append(("user", " | ".join(block.text or "" for block in content)))
            case AssistantTurn(parts=parts):
                found.append(("assistant", "".join(part.text for part in parts if isinstance(part, TextPart))))
            case _:
                pass
    return found


def test_a_steer_joins_the_run_and_is_answered_in_the_same_attempt() -> None:
    world = World()
    world.say("do it")
    assert steered(world) == {"runId": RUN, "disposition": "steered"}
    answered(world, "done")
    assert owed(world.state) == AskModel(RUN, f"{RUN}.a1")
    assert spoken(world) == [("user", "do it"), ("assistant", "done"), ("user", "also this")]
    answered(world, "and that too")
    assert world.state.runs[RUN].status is RunStatus.COMPLETED
    assert len(world.state.attempts) == 1


def test_two_steers_before_one_border_join_in_order() -> None:
    world = World()
    world.say("do it")
    steered(world, "first")
    steered(world, "second")
    assert owed(world.state) == Join(RUN)
    joined = join_now(world.state, RUN, "t")
    assert joined is not None
    world.commit(joined)
    assert spoken(world) == [("user", "do it | first | second")]
    assert join_now(world.state, RUN, "t") is None


def test_a_steer_that_a_stop_overtakes_waits_in_front_of_the_held_queue() -> None:
    world = World()
    world.say("do it")
    world.say("later")
    steered(world)
    stop = interrupt(world.state, RUN, Interrupt(by="me", from_="here", at="t"))
    assert isinstance(stop, Decision)
    world.commit(stop)
    ended = step.end(world.state, RUN, AttemptFact.INTERRUPTED, at="t")
    assert ended is not None
    world.commit(ended)
    assert world.state.runs[RUN].steers == ()
    assert [run.content[0].text for run in world.state.queue()] == ["also this", "later"]
    assert world.state.conversation.queue_held
    assert owed(world.state) == Nothing()


def test_a_steer_for_a_run_that_has_ended_is_sent_as_if_now() -> None:
    world = World()
    world.say("do it")
    answered(world, "done")
    late = send(world.state, message("more", dispatch=Dispatch.STEER, target_run_id=RUN), "t")
    assert isinstance(late, Decision)
    assert late.result == {"runId": "c1.r2", "disposition": "started"}
