"""What becomes of a message: started, queued or refused with a sentence; never dropped."""

import pytest

from agent_ls.core import dispatch
from agent_ls.core.dispatch import Dispatch, Message, send
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.items import Block, ContextItem, ItemKind, UserMessage
from agent_ls.core.queue import QueueOp, QueueUpdate, update
from agent_ls.core.run import RunStatus
from tests.unit.core.world import World, message


def sent(world: World, **fields: object) -> dict[str, object]:
    return world.commit(send(world.state, message(**fields), "t1")).result  # type: ignore[arg-type]


def code(refused: object) -> Code:
    assert isinstance(refused, Refusal)
    return refused.code


def test_the_first_message_starts_a_run_and_names_the_conversation() -> None:
    world = World()
    context = (ContextItem(type="selection", uri="file:///w/a", text="x"),)
    done = world.commit(send(world.state, message("Fix it\nplease", context=context), "t1"))
    assert done.result == {"runId": "c1.r1", "disposition": "started"}
    run = world.state.runs["c1.r1"]
    item = world.state.items["c1.r1.u1"]
    assert (run.status, run.content, run.position, run.user_item_id) == (RunStatus.RUNNING, (), None, item.id)
    assert item.payload == UserMessage(content=(Block(type="text", text="Fix it\nplease"),), context=context)
    assert world.state.conversation.title == "Fix it"
    assert world.unsettled == {"c1.r1.a1"}
    assert [str(event.fact) for event in world.events] == [
        *("created", "updated", "queued", "added", "started", "created", "running", "running")
    ]


def test_a_message_while_a_run_goes_on_steers_it() -> None:
    world = World()
    run = world.say("first")
    assert sent(world, text="second") == {"runId": run, "disposition": "steered"}


def test_one_that_is_to_queue_is_queued_and_keeps_the_title() -> None:
    world = World()
    world.say("first")
    assert sent(world, text="second", dispatch=Dispatch.QUEUE) == {"runId": "c1.r2", "disposition": "queued"}
    assert [run.id for run in world.state.queue()] == ["c1.r2"]
    assert world.state.runs["c1.r2"].content == (Block(type="text", text="second"),)
    assert world.state.conversation.title == "first"
    assert "c1.r2.u1" not in world.state.items


@pytest.mark.parametrize("wanted", [Dispatch.AUTO, Dispatch.QUEUE, Dispatch.STEER, Dispatch.RESTART, Dispatch.START])
def test_while_nothing_runs_every_message_starts(wanted: Dispatch) -> None:
    assert sent(World(), dispatch=wanted)["disposition"] == "started"


def test_asked_to_queue_behind_a_held_queue_it_waits_and_start_passes_it() -> None:
    world = World()
    world.commit(update(world.state, QueueUpdate(op=QueueOp.HOLD), "t"))
    assert sent(world, dispatch=Dispatch.QUEUE)["disposition"] == "queued"
    assert sent(world, dispatch=Dispatch.START) == {"runId": "c1.r2", "disposition": "started"}
    assert world.state.conversation.queue_held


def test_start_is_refused_while_a_run_goes_on() -> None:
    world = World()
    world.say()
    assert code(send(world.state, message(dispatch=Dispatch.START), "t")) is Code.CONVERSATION_BUSY


def test_a_steer_meant_for_a_run_that_has_ended_is_taken_as_if_sent_now() -> None:
    world = World()
    first = world.say()
    world.reply(text="done")
    assert sent(world, dispatch=Dispatch.STEER, target_run_id=first)["disposition"] == "started"
    assert sent(world, dispatch=Dispatch.STEER, target_run_id=first)["disposition"] == "queued"


@pytest.mark.parametrize(
    "content", [(), (Block(type="text", text=" \n"),), (Block(type="text"), Block(type="image", mime_type="image/png"))]
)
def test_an_empty_message_is_refused(content: tuple[Block, ...]) -> None:
    assert code(send(World().state, Message(content=content), "t")) is Code.INVALID_PARAMS


def test_an_image_or_a_file_alone_says_something() -> None:
    for block in (Block(type="image", data="aGk="), Block(type="file", uri="file:///w/a")):
        world = World()
        world.commit(send(world.state, Message(content=(block,)), "t"))
        assert world.state.items["c1.r1.u1"].kind is ItemKind.USER_MESSAGE


def test_a_full_queue_takes_no_more_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "QUEUE_LIMIT", 2)
    world = World()
    for _ in range(3):
        world.say()
    refused = send(world.state, message(dispatch=Dispatch.QUEUE), "t")
    assert code(refused) is Code.QUEUE_FULL
    assert len(world.state.runs) == 3
    for _ in range(2):
        sent(world)
    assert code(send(world.state, message(), "t")) is Code.QUEUE_FULL


def test_in_a_long_queue_the_sender_is_told_how_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "QUEUE_TOLD", 1)
    world = World()
    world.say()
    assert "notice" not in sent(world, dispatch=Dispatch.QUEUE)
    assert sent(world, dispatch=Dispatch.QUEUE)["notice"] == "2 messages wait in this conversation."
