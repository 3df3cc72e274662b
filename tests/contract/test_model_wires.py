"""Each model wire against the scripted server: what streams do on a real connection."""

import os
from collections.abc import Callable

import anyio
import pytest

from agent_ls.core.items import Usage
from agent_ls.core.messages import (
    AssistantTurn,
    CallPart,
    ReasoningPart,
    Reply,
    ResultPart,
    ResultsTurn,
    Stop,
    TextPart,
)
from agent_ls.ports.provider import CallFrame, Cause, Failure, Frame, Model, TextFrame
from agent_ls.testing.model_scenario import (
    Cut,
    Gate,
    Raw,
    Say,
    Silence,
    Think,
    Tokens,
    UseTool,
    Wait,
    reply,
    say,
)
from agent_ls.testing.model_server import serve_model
from tests.contract.model_line import asked, line, stream, user
from tests.contract.model_words import words

pytestmark = pytest.mark.anyio


async def test_a_whole_answer_with_all_that_can_be_in_it(wire: Callable[..., Model]) -> None:
    answer = reply(
        Think("hm", 1),
        Say("I read.", 3),
        UseTool("read", {"path": "a"}, "c1", 4),
        UseTool("read", {}, "c2"),
        usage=Tokens(12, 3, 4),
    )
    async with line(wire, answer) as to:
        assert await to.reply() == Reply(
            (
                ReasoningPart("hm", words(wire).thought("hm")),
                TextPart("I read."),
                CallPart("c1", "read", '{"path": "a"}'),
                CallPart("c2", "read", "{}"),
            ),
            Stop.TOOL_CALLS,
            Usage(input_tokens=8, output_tokens=3, cache_read_tokens=4),
            "scripted-1",
        )
        assert [frame for frame in to.frames if frame.part == 1] == [
            TextFrame(1, "I r"),
            TextFrame(1, "ead"),
            TextFrame(1, "."),
        ]
        assert "".join(frame.delta for frame in to.frames if frame.part == 2) == '{"path": "a"}'
        assert all(isinstance(frame, CallFrame) for frame in to.frames if frame.part > 1)


async def test_a_call_without_arguments_goes_back_as_an_empty_object(wire: Callable[..., Model]) -> None:
    async with line(wire, reply(UseTool("read", "", "c1")), say("ok")) as to:
        first = await to.reply()
        assert first.parts == (CallPart("c1", "read", ""),)
        assert await to.reply(user(), AssistantTurn(first.parts), ResultsTurn((ResultPart("c1", "r"),)))
        assert to.server.refused == []
        assert words(wire).arguments(to.server.requests[1].body) == ["{}"]


async def test_ids_that_a_server_uses_twice_are_told_apart_by_their_place(wire: Callable[..., Model]) -> None:
    twice = reply(UseTool("read", {"a": 1}, "call_0"), UseTool("read", {"a": 2}, "call_0"))
    async with line(wire, twice, say("ok")) as to:
        first = await to.reply()
        assert first.parts == (CallPart("call_0", "read", '{"a": 1}'), CallPart("call_0", "read", '{"a": 2}'))
        # Ids of ours in the history, as the ring gives them.
        ours = tuple(
            CallPart(f"o{place}", part.name, part.arguments)
            for place, part in enumerate(first.parts)
            if isinstance(part, CallPart)
        )
        results = ResultsTurn((ResultPart("o0", "one"), ResultPart("o1", "two")))
        assert (await to.reply(user(), AssistantTurn(ours), results)).parts == (TextPart("ok"),)
        assert to.server.requests[1].results == (("o0", "one"), ("o1", "two"))


@pytest.mark.parametrize("until_close", [True, False])
@pytest.mark.parametrize("reset", [True, False])
async def test_an_answer_without_its_end_was_cut(wire: Callable[..., Model], *, reset: bool, until_close: bool) -> None:
    gate = Gate()
    async with line(wire, stream(Say("a"), Wait(gate), Cut(reset), until_close=until_close)) as to:

        def emit(frame: Frame) -> None:
            to.frames.append(frame)
            gate.open()

        with anyio.fail_after(5):
            failure = await to.model.call(asked(), emit)
        assert isinstance(failure, Failure)
        assert (failure.cause, failure.shown, to.frames) == (Cause.CUT, True, [TextFrame(0, "a")])


async def test_a_stream_without_anything_was_cut_and_nothing_was_shown(wire: Callable[..., Model]) -> None:
    async with line(wire, stream(Cut())) as to:
        failure = await to.failure()
        assert (failure.cause, failure.shown) == (Cause.CUT, False)


async def test_a_whole_answer_does_not_wait_for_a_server_that_keeps_the_line_open(wire: Callable[..., Model]) -> None:
    async with line(wire, stream(Say("a"), Raw(words(wire).end), Silence())) as to:
        with anyio.fail_after(2):
            assert (await to.reply()).parts == (TextPart("a"),)


async def test_a_tool_that_nobody_offered_comes_back_as_the_model_named_it(wire: Callable[..., Model]) -> None:
    names = ["read_file", "Bash ", "functions.bash", "../edit"]
    shown = 'Like this:\n```json\n{"name": "shell", "arguments": {}}\n```'
    async with line(wire, reply(*(UseTool(name) for name in names)), say(shown)) as to:
        assert [part.name for part in (await to.reply()).parts if isinstance(part, CallPart)] == names
        assert (await to.reply()).parts == (TextPart(shown),)


async def test_cancelling_in_mid_stream_closes_the_connection(wire: Callable[..., Model]) -> None:
    async with line(wire, stream(Say("a"), Silence()), say("b")) as to:
        shown = anyio.Event()
        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(to.model.call, asked(), lambda _: shown.set())
                await shown.wait()
                group.cancel_scope.cancel()
            await to.server.until(lambda: to.server.abandoned == 1)
        assert (await to.reply()).parts == (TextPart("b"),)


async def test_two_hundred_calls_use_one_connection_and_leak_nothing(wire: Callable[..., Model]) -> None:
    async with line(wire, *(say("a") for _ in range(201))) as to:
        await to.reply()
        before = len(os.listdir("/dev/fd"))
        for _ in range(200):
            await to.reply()
        assert len(os.listdir("/dev/fd")) == before
        assert to.server.connections == 1


async def test_many_calls_at_once_do_not_mix(wire: Callable[..., Model]) -> None:
    async with serve_model(lambda request: say(request.last_user_text, size=1)) as server:
        model = wire(name="mine", base_url=server.base_url)
        heard: dict[int, str] = {}

        async def call(number: int) -> None:
            result = await model.call(asked(user(f"number {number}")), lambda _: None)
            assert isinstance(result, Reply)
            heard[number] = "".join(part.text for part in result.parts if isinstance(part, TextPart))

        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                for number in range(30):
                    group.start_soon(call, number)
        await model.close()
        assert heard == {number: f"number {number}" for number in range(30)}
