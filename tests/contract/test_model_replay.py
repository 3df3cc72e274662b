"""What each model wire sends back of a conversation: thoughts as they came, results in their place, nothing empty."""

from collections.abc import Callable
from typing import Any

import pytest

from agent_ls.core.items import Block
from agent_ls.core.messages import (
    AssistantTurn,
    CallPart,
    ModelMessage,
    ReasoningPart,
    Reply,
    ResultPart,
    ResultsTurn,
    TextPart,
)
from agent_ls.ports.provider import Model
from agent_ls.testing.model_scenario import SEALED, Say, Think, UseTool, reply, say
from tests.contract.model_line import line, user
from tests.contract.model_words import WORDS, words

pytestmark = pytest.mark.anyio

IMAGE = Block(type="image", mime_type="image/png", data="AAAA")


def with_our_ids(answer: Reply, prefix: str = "o") -> tuple[AssistantTurn, ResultsTurn]:
    """An answer as the ring keeps it, and a result for each of its calls."""
    parts = tuple(
        CallPart(f"{prefix}{place}", part.name, part.arguments) if isinstance(part, CallPart) else part
        for place, part in enumerate(answer.parts)
    )
    results = [ResultPart(part.id, f"result {part.id}") for part in parts if isinstance(part, CallPart)]
    return AssistantTurn(parts), ResultsTurn(tuple(results))


async def test_thoughts_go_back_byte_for_byte_and_in_order(wire: Callable[..., Model]) -> None:
    first = reply(Think("I read 北🌍\u2028 ", 3), Say("So"), UseTool("read", {}, "c1"))
    second = reply(Think(' "hm"\n', 1), UseTool("read", {}, "c1"), Say("now"))
    async with line(wire, first, second, say("ok")) as to:
        one = with_our_ids(await to.reply(), "a")
        two = with_our_ids(await to.reply(user(), *one), "b")
        await to.reply(user(), *one, *two)
        assert to.server.refused == []
        sent = words(wire).thoughts(to.server.requests[2].body)
        assert [text_of(thought) for thought in sent] == ["I read 北🌍\u2028 ", ' "hm"\n']


async def test_thoughts_that_nobody_may_read_go_back_too(wire: Callable[..., Model]) -> None:
    async with line(wire, reply(Think("x", field=SEALED), UseTool("read")), say("ok")) as to:
        first = await to.reply()
        await to.reply(user(), *with_our_ids(first))
        assert to.server.refused == []
        if words(wire).seals:
            assert isinstance(first.parts[0], ReasoningPart)
            assert (first.parts[0].text, len(words(wire).thoughts(to.server.requests[1].body))) == ("", 1)


async def test_thoughts_of_another_wire_are_left_out_whole(wire: Callable[..., Model]) -> None:
    foreign = [other.thought("hm") for kind, other in WORDS.items() if kind is not wire]
    turns: list[ModelMessage] = []
    for place, raw in enumerate(foreign):
        call = CallPart(f"c{place}", "read", "{}")
        thought = ReasoningPart("hm", {key: value for key, value in raw.items() if key != "field"})
        turns += [user(), AssistantTurn((thought, call)), ResultsTurn((ResultPart(call.id, "r"),))]
    async with line(wire, say("ok")) as to:
        await to.reply(*turns)
        assert to.server.refused == []
        assert words(wire).thoughts(to.server.requests[0].body) == []


async def test_a_turn_of_nothing_but_thoughts_is_not_sent(wire: Callable[..., Model]) -> None:
    async with line(wire, say("ok")) as to:
        await to.reply(user("a"), AssistantTurn((ReasoningPart("hm", words(wire).thought("hm")),)), user("b"))
        assert to.server.refused == []
        assert words(wire).thoughts(to.server.requests[0].body) == []


async def test_results_come_first_and_what_the_person_said_meanwhile_after_them(wire: Callable[..., Model]) -> None:
    calls = AssistantTurn((TextPart("I look."), CallPart("c1", "read", "{}"), CallPart("c2", "read", "{}")))
    results = ResultsTurn((ResultPart("c1", "one"), ResultPart("c2", "two", is_error=True)))
    async with line(wire, say("ok"), say("ok")) as to:
        await to.reply(user("look"), calls, results)
        await to.reply(user("look"), calls, results, user("also do X"))
        assert to.server.refused == []
        assert to.server.requests[0].results == (("c1", "one"), ("c2", "two"))
        assert to.server.requests[1].user_texts == ("look", "also do X")


async def test_images_of_the_person_and_of_results_are_carried_legally(wire: Callable[..., Model]) -> None:
    looked = user("look")
    asked = type(looked)((*looked.content, IMAGE))
    calls = AssistantTurn((CallPart("c1", "read", "{}"), CallPart("c2", "read", "{}")))
    results = ResultsTurn((ResultPart("c1", "a", images=(IMAGE,), is_error=True), ResultPart("c2", "b")))
    async with line(wire, say("ok"), say("ok")) as to:
        await to.reply(asked, calls, results)
        await to.reply(asked, calls, results, user("also do X"))
        assert to.server.refused == []
        assert all(len(words(wire).images(request.body)) == 2 for request in to.server.requests)
        assert all("AAAA" in image for image in words(wire).images(to.server.requests[1].body))


async def test_an_image_that_models_do_not_know_becomes_a_word(wire: Callable[..., Model]) -> None:
    async with line(wire, say("ok")) as to:
        drawing = Block(type="image", mime_type="image/svg+xml", data="AAAA")
        await to.reply(type(user())((drawing,)))
        assert words(wire).images(to.server.requests[0].body) == []
        assert "image/svg+xml" in to.server.requests[0].last_user_text


async def test_nothing_empty_is_sent(wire: Callable[..., Model]) -> None:
    calls = AssistantTurn((TextPart("\n"), CallPart("c1", "read", " \n")))
    async with line(wire, say("ok")) as to:
        await to.reply(
            user(" "), calls, ResultsTurn((ResultPart("c1", ""),)), AssistantTurn((TextPart(" "),)), user("go on")
        )
        assert to.server.refused == []
        request = to.server.requests[0]
        assert (request.last_user_text, words(wire).arguments(request.body)) == ("go on", ["{}"])


async def test_names_and_arguments_that_a_model_made_up_do_not_spoil_what_follows(wire: Callable[..., Model]) -> None:
    made_up = [("Bash ", "{"), ("functions.bash", "[1]"), ("../edit", "null"), ("", ""), ("x" * 200, '{"a": 1}')]
    async with line(wire, reply(*(UseTool(name, text) for name, text in made_up)), say("ok")) as to:
        await to.reply(user(), *with_our_ids(await to.reply()))
        assert to.server.refused == []
        assert len(words(wire).arguments(to.server.requests[1].body)) == len(made_up)


async def test_the_key_of_the_cache_stays_and_what_was_sent_stays_in_front(wire: Callable[..., Model]) -> None:
    async with line(wire, say("one"), say("two")) as to:
        first = await to.reply(user("a"))
        await to.reply(user("a"), AssistantTurn(first.parts), user("b"))
        before, after = (unmarked(request.body) for request in to.server.requests)
        conversation = "input" if "input" in before else "messages"
        assert after[conversation][: len(before[conversation])] == before[conversation]
        assert {key: before[key] for key in before if key != conversation} == {
            key: after[key] for key in after if key != conversation
        }


def unmarked(value: Any) -> Any:
    """Without the marks of a cache, which move on with the conversation."""
    if isinstance(value, dict):
        return {key: unmarked(inner) for key, inner in value.items() if key != "cache_control"}
    return [unmarked(inner) for inner in value] if isinstance(value, list) else value


def text_of(thought: Any) -> str:
    match thought:
        case {"thinking": str(text)} | {"summary": [{"text": str(text)}]} | str(text):
            return text
        case _:
            raise AssertionError(thought)
