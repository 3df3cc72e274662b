"""What a Chat Completions body comes to, in all the shapes that servers give it."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ls.adapters.models.chat_decode import ChatDecoder
from agent_ls.adapters.models.failures import Spoken
from agent_ls.core.items import Usage
from agent_ls.core.messages import CallPart, ReasoningPart, Reply, Stop, TextPart
from agent_ls.ports.provider import CallFrame, Cause, Failure, Frame, ReasoningFrame, TextFrame

SPOKEN = Spoken(provider="p", base_url="http://localhost/v1", model="m")
DONE = "data: [DONE]\n\n"


def event(delta: dict[str, Any] | None = None, *, finish: str | None = None, **more: Any) -> str:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return "data: " + json.dumps({"choices": [choice], **more}, ensure_ascii=False) + "\n\n"


def call(index: int | None = None, id: str | None = None, name: str | None = None, arguments: Any = None) -> str:
    fragment: dict[str, Any] = {"function": {}}
    if index is not None:
        fragment["index"] = index
    if id is not None:
        fragment["id"] = id
    if name is not None:
        fragment["function"]["name"] = name
    if arguments is not None:
        fragment["function"]["arguments"] = arguments
    return event({"tool_calls": [fragment]})


def decode(*chunks: str | bytes, cut_by: str | None = None) -> tuple[Reply | Failure, list[Frame]]:
    decoder = ChatDecoder(SPOKEN)
    frames: list[Frame] = []
    for chunk in chunks:
        frames += decoder.feed(chunk.encode() if isinstance(chunk, str) else chunk)
    return decoder.end(cut_by=cut_by), frames


def reply(*chunks: str) -> Reply:
    result, _ = decode(*chunks)
    assert isinstance(result, Reply), result
    return result


def failure(*chunks: str) -> Failure:
    result, _ = decode(*chunks)
    assert isinstance(result, Failure), result
    return result


def test_reasoning_text_and_calls_are_parts_in_the_order_they_began() -> None:
    result, frames = decode(
        event({"reasoning_content": "hm"}, model="m-2"),
        event({"content": "I "}),
        event({"content": "read."}),
        call(0, "c1", "read", ""),
        call(0, arguments='{"path":'),
        call(0, arguments='"a"}'),
        event(finish="tool_calls"),
        DONE,
    )
    assert result == Reply(
        (
            ReasoningPart("hm", {"field": "reasoning_content"}),
            TextPart("I read."),
            CallPart("c1", "read", '{"path":"a"}'),
        ),
        Stop.TOOL_CALLS,
        None,
        "m-2",
    )
    assert frames == [
        ReasoningFrame(0, "hm"),
        TextFrame(1, "I "),
        TextFrame(1, "read."),
        CallFrame(2, "read", ""),
        CallFrame(2, "read", '{"path":'),
        CallFrame(2, "read", '"a"}'),
    ]


A, B = CallPart("c1", "read", '{"p":"a"}'), CallPart("c2", "list", '{"p":"b"}')


@pytest.mark.parametrize(
    ("how", "chunks", "calls"),
    [
        (
            "by index",
            [call(0, "c1", "read", '{"p"'), call(0, None, None, ':"a"}'), call(1, "c2", "list", '{"p":"b"}')],
            (A, B),
        ),
        (
            "interleaved",
            [
                call(0, "c1", "read"),
                call(1, "c2", "list"),
                call(1, None, None, '{"p":'),
                call(0, None, None, '{"p":"a"}'),
                call(1, None, None, '"b"}'),
            ],
            (A, B),
        ),
        (
            "by id",
            [call(None, "c1", "read", '{"p":'), call(None, "c1", None, '"a"}'), call(None, "c2", "list", '{"p":"b"}')],
            (A, B),
        ),
        (
            "with neither",
            [call(None, None, "read", '{"p":'), call(None, None, None, '"a"}'), call(None, None, "list", '{"p":"b"}')],
            (CallPart("", "read", '{"p":"a"}'), CallPart("", "list", '{"p":"b"}')),
        ),
        ("one index for all", [call(0, "c1", "read", '{"p":"a"}'), call(0, "c2", "list", '{"p":"b"}')], (A, B)),
        (
            "one index for all and no ids, the same tool",
            [call(0, None, "read", '{"p":"a"}'), call(0, None, "read", '{"p":"b"}')],
            (CallPart("", "read", '{"p":"a"}'), CallPart("", "read", '{"p":"b"}')),
        ),
        (
            "one id for all",
            [call(0, "c", "read", '{"p":"a"}'), call(1, "c", "list", '{"p":"b"}')],
            (CallPart("c", "read", '{"p":"a"}'), CallPart("c", "list", '{"p":"b"}')),
        ),
        ("id and name said again each time", [call(0, "c1", "read", '{"p":'), call(0, "c1", "read", '"a"}')], (A,)),
        ("arguments as an object", [call(0, "c1", "read", {"p": "a"})], (CallPart("c1", "read", '{"p": "a"}'),)),
        ("empty arguments", [call(0, "c1", "read", "")], (CallPart("c1", "read", ""),)),
        ("no arguments at all", [call(0, "c1", "read")], (CallPart("c1", "read", ""),)),
        ("a name that comes late", [call(0, "c1", None, '{"p":'), call(0, None, "read", '"a"}')], (A,)),
    ],
)
def test_fragments_find_their_call(how: str, chunks: list[str], calls: tuple[CallPart, ...]) -> None:
    result, frames = decode(*chunks, event(finish="stop"), DONE)
    assert result == Reply(calls, Stop.TOOL_CALLS), how
    for part, whole in enumerate(calls):
        mine = [frame for frame in frames if frame.part == part]
        assert all(isinstance(frame, CallFrame) and frame.name == whole.name for frame in mine)
        assert "".join(frame.delta for frame in mine) == whole.arguments


def test_choices_may_be_empty_or_missing_and_usage_is_counted_once() -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}
    assert reply(
        'data: {"choices":[],"prompt_filter_results":[]}\n\n',
        'data: {"id":"x"}\n\n',
        event({"content": "a"}, usage=None),
        event({"content": None}, usage=None),
        event({"content": "b"}, finish="stop", usage=usage),
        f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n",
        DONE,
    ) == Reply((TextPart("ab"),), Stop.END_TURN, Usage(input_tokens=8, output_tokens=3, cache_read_tokens=4))


@pytest.mark.parametrize(
    "ending",
    [
        DONE,
        event(finish="stop"),
        event(finish="stop") + DONE,
        'data: {"choices":[{"delta":{},"finishReason":"stop"}]}\n\n',
    ],
)
def test_a_finish_reason_or_the_last_marker_ends_an_answer(ending: str) -> None:
    assert reply(event({"content": "a"}), ending) == Reply((TextPart("a"),), Stop.END_TURN)


@pytest.mark.parametrize("tail", ["", "data: [DONE]", event(finish="stop").rstrip("\n"), ": ping\n\n"])
def test_an_answer_without_an_end_was_cut(tail: str) -> None:
    result = failure(event({"content": "a"}), tail)
    assert (result.cause, result.shown) == (Cause.CUT, True)


def test_a_body_without_a_byte_was_cut_before_anything_was_shown() -> None:
    result = failure()
    assert (result.cause, result.shown) == (Cause.CUT, False)


@pytest.mark.parametrize("keep_alive", ["data: : keepalive\n\n", ": ping\n\n", "event: ping\n\n", "data: null\n\n"])
def test_keep_alives_change_nothing(keep_alive: str) -> None:
    assert reply(keep_alive, event({"content": "a"}), keep_alive, event(finish="stop"), DONE) == Reply(
        (TextPart("a"),), Stop.END_TURN
    )


@pytest.mark.parametrize(
    ("finish", "stop"),
    [("stop", Stop.END_TURN), ("length", Stop.MAX_TOKENS), ("content_filter", Stop.REFUSAL), ("new", Stop.END_TURN)],
)
def test_why_it_stopped(finish: str, stop: Stop) -> None:
    assert reply(event({"content": "a"}), event(finish=finish)).stop is stop


def test_a_refusal_is_shown_and_told() -> None:
    assert reply(event({"refusal": "No."}), event(finish="stop")) == Reply((TextPart("No."),), Stop.REFUSAL)


def test_an_answer_with_nothing_in_it_is_empty() -> None:
    assert failure(event(finish="stop"), DONE).cause is Cause.EMPTY


def test_no_room_for_a_first_token_is_a_full_window() -> None:
    assert failure(event(finish="length"), DONE).cause is Cause.OVERFLOW


@pytest.mark.parametrize(
    ("error", "cause", "status"),
    [
        ({"message": "Overloaded", "type": "overloaded_error"}, Cause.OVERLOADED, None),
        ({"message": "slow down", "code": 429}, Cause.RATE_LIMITED, 429),
        ({"message": "too long", "code": "context_length_exceeded"}, Cause.OVERFLOW, None),
        ("boom", Cause.SERVER, None),
    ],
)
def test_an_error_inside_an_answer_is_an_error(error: Any, cause: Cause, status: int | None) -> None:
    result = failure(event({"content": "a"}), f"data: {json.dumps({'error': error})}\n\n", DONE)
    assert (result.cause, result.status, result.shown) == (cause, status, True)


def test_an_answer_in_one_piece_is_an_answer() -> None:
    message = {
        "role": "assistant",
        "content": "a",
        "tool_calls": [{"id": "c1", "function": {"name": "t", "arguments": "{}"}}],
    }
    body = json.dumps({"model": "m", "choices": [{"message": message, "finish_reason": "tool_calls"}]}, indent=1)
    assert reply(body[:10], body[10:]) == Reply((TextPart("a"), CallPart("c1", "t", "{}")), Stop.TOOL_CALLS, None, "m")


@pytest.mark.parametrize(
    "body",
    [
        "<!doctype html><title>Welcome</title>",
        '{"hello": 1}',
        '{"message":{"content":"a"},"done":false}\n{"done":true}\n',
        "Ollama is running",
        "ok",
        'data: {"choices": [{"delta": {"content": \n\n',
        "data: hello\n\ndata: world\n\n",
    ],
)
def test_what_is_no_answer_is_nonsense(body: str) -> None:
    result = failure(body)
    assert (result.cause, result.shown) == (Cause.NONSENSE, False)
    assert "base_url of provider 'p'" in result.message


def test_a_broken_event_in_the_middle_is_not_passed_over() -> None:
    result = failure(event({"content": "a"}), 'data: {"choices":[{"del\n\n', event(finish="stop"), DONE)
    assert (result.cause, result.shown, result.detail) == (Cause.NONSENSE, True, '{"choices":[{"del')


def test_the_words_of_a_broken_connection_are_kept() -> None:
    result, _ = decode(event({"content": "a"}), cut_by="ReadError: reset")
    assert isinstance(result, Failure)
    assert (result.cause, result.detail, result.shown) == (Cause.CUT, "ReadError: reset", True)


WHOLE = (
    "\ufeff: ping\r\n\r\n"
    + event({"reasoning": "北"})
    + event({"content": "a🌍\u2028"})
    + call(0, "c1", "read", '{"p":')
    + call(1, "c2", "list", "")
    + call(0, None, None, '"ä"}')
    + event(finish="tool_calls")
    + DONE
).encode()


@given(st.lists(st.integers(0, len(WHOLE)), max_size=30))
def test_any_cut_of_the_bytes_gives_the_same_reply_and_frames(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(WHOLE)]
    assert decode(*(WHOLE[a:b] for a, b in pairwise(places))) == decode(WHOLE)
