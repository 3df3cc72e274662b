"""What a model is sent: every call with its one result, no empty text, never two turns of the person in a row."""

from typing import Any

import pytest

from agent_ls.core.attempt import AttemptFact
from agent_ls.core.context import join, messages, user_blocks
from agent_ls.core.items import Block, ContextItem, ResultStatus, ToolResult, UserMessage
from agent_ls.core.messages import (
    AssistantTurn,
    CallPart,
    ModelMessage,
    ReasoningPart,
    Reply,
    ResultPart,
    ResultsTurn,
    Stop,
    TextPart,
    UserTurn,
)
from agent_ls.core.step import end, move_item, take_reply
from tests.unit.core.world import ALLOW, ASK, DENY, INVALID, World, call, illegal


def sent(world: World, *, model: str = "m") -> tuple[ModelMessage, ...]:
    runs = [messages(world.state.items_of(run), provider="p", model=model) for run in world.state.run_items]
    return join(runs)


def person(*texts: str) -> UserTurn:
    return UserTurn(tuple(Block(type="text", text=text) for text in texts))


def finish(world: World, item_id: str, result: ToolResult) -> None:
    world.commit(move_item(world.state, item_id, "started", at="t"))  # type: ignore[arg-type]
    world.commit(move_item(world.state, item_id, "finished", at="t", result=result))  # type: ignore[arg-type]


def test_calls_are_followed_by_their_results_in_call_order_however_they_ended() -> None:
    world = World()
    world.say("look")
    first, second, third, fourth = world.reply(
        (ALLOW, call("read")), (DENY, call("edit")), (ALLOW, call("shell")), (INVALID, call("edit")), text="I look."
    )
    finish(world, third.id, ToolResult(status=ResultStatus.TIMEOUT, output="slow"))
    finish(world, first.id, ToolResult(status=ResultStatus.OK, output=" "))
    ids = [item.call.call_id for item in (first, second, third, fourth)]
    assert sent(world) == (
        person("look"),
        AssistantTurn(
            (
                TextPart("I look."),
                CallPart(ids[0], "read", "{}"),
                CallPart(ids[1], "edit", "{}"),
                CallPart(ids[2], "shell", "{}"),
                CallPart(ids[3], "edit", "{}"),
            )
        ),
        ResultsTurn(
            (
                ResultPart(ids[0], "(no output)"),
                ResultPart(ids[1], "denied: it is deny", is_error=True, prefix="denied: "),
                ResultPart(ids[2], "timeout: slow", is_error=True, prefix="timeout: "),
                ResultPart(ids[3], "error: it is invalid", is_error=True, prefix="error: "),
            )
        ),
    )
    assert illegal(sent(world)) == []


def test_an_open_call_is_never_sent_without_a_result() -> None:
    world = World()
    world.say()
    world.reply((ASK, call()))
    assert illegal(sent(world)) == []


@pytest.mark.parametrize("outcome", [AttemptFact.INTERRUPTED, AttemptFact.FAILED])
def test_a_broken_off_answer_is_sent_as_such_and_claims_no_reason(outcome: AttemptFact) -> None:
    world = World()
    run = world.say("one")
    world.commit(end(world.state, run, outcome, said=[(0, TextPart("half an ans"))], at="t"))
    world.say("two")
    cut = AssistantTurn((TextPart("half an ans"), TextPart("(this answer was cut off here)")))
    assert sent(world) == (person("one"), cut, person("two"))


def test_messages_without_an_answer_between_them_become_one() -> None:
    world = World()
    run = world.say("one")
    world.commit(end(world.state, run, AttemptFact.FAILED, at="t"))
    world.say("two")
    assert sent(world) == (person("one", "two"),)


def test_an_answer_of_blanks_is_left_out() -> None:
    world = World()
    world.say("one")
    world.reply(text=" \n")
    world.say("two")
    assert sent(world) == (person("one", "two"),)


def test_reasoning_goes_back_only_to_who_made_it_and_never_alone() -> None:
    world = World()
    run = world.say("one")
    attempt = world.state.attempts[f"{run}.a1"]
    parts = (ReasoningPart("hm", {"signature": "x"}), TextPart("ok"))
    world.commit(take_reply(world.state, attempt, Reply(parts, Stop.END_TURN), triage=[], at="t"))
    run = world.say("two")
    attempt = world.state.attempts[f"{run}.a1"]
    world.commit(take_reply(world.state, attempt, Reply(parts[:1], Stop.END_TURN), triage=[], at="t"))
    assert sent(world) == (person("one"), AssistantTurn(parts), person("two"))
    assert sent(world, model="another") == (person("one"), AssistantTurn(parts[1:]), person("two"))


def test_attachments_follow_what_was_said_and_blank_text_is_left_out() -> None:
    said = UserMessage(
        content=(
            Block(type="text", text="see"),
            Block(type="text", text="  "),
            Block(type="file", uri="file:///w/a"),
            Block(type="image", mime_type="image/png", data="aGk="),
        ),
        context=(
            ContextItem(type="selection", uri="file:///w/b", range={"start": {"line": 4}}, text="x = 1"),
            ContextItem(type="diagnostics", data=["bad"]),
        ),
    )
    assert user_blocks(said) == (
        Block(type="text", text="see"),
        Block(type="image", mime_type="image/png", data="aGk="),
        Block(type="text", text="Attached file: file:///w/a"),
        Block(type="text", text="[selection file:///w/b from line 5]\nx = 1"),
        Block(type="text", text="[diagnostics]\n['bad']"),
    )


def test_images_of_a_result_go_with_it() -> None:
    world = World()
    world.say()
    (item,) = world.reply((ALLOW, call("read")))
    picture = (Block(type="image", mime_type="image/png", data="aGk="),)
    finish(world, item.id, ToolResult(status=ResultStatus.OK, output="a picture", images=picture))
    assert sent(world)[-1] == ResultsTurn((ResultPart(item.call.call_id, "a picture", images=picture),))


@pytest.mark.parametrize(
    "shape", [{}, {"start": None}, {"start": 5}, {"start": {"line": "x"}}, {"start": {"line": None}}]
)
def test_an_attachment_with_an_odd_range_is_sent_without_it(shape: dict[str, Any]) -> None:
    attached = ContextItem(type="file", uri="file:///a", range=shape, text="x")
    said = UserMessage(content=(Block(type="text", text="see"),), context=(attached,))
    assert user_blocks(said)[1:] == (Block(type="text", text="[file file:///a]\nx"),)
