"""What a Messages body comes to."""

import json
from typing import Any

import pytest

from agent_ls.adapters.models.anthropic_decode import AnthropicDecoder
from agent_ls.adapters.models.failures import Spoken
from agent_ls.core.items import Usage
from agent_ls.core.messages import CallPart, ReasoningPart, Reply, Stop, TextPart
from agent_ls.ports.provider import CallFrame, Cause, Failure, Frame, ReasoningFrame, TextFrame

SPOKEN = Spoken(provider="p", base_url="http://localhost/v1", model="m")
END: dict[str, Any] = {"type": "message_stop"}


def start(**usage: int) -> dict[str, Any]:
    return {"type": "message_start", "message": {"model": "m-2", "usage": usage}}


def block(index: int, kind: str, **content: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **content}}


def delta(index: int, kind: str, **content: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **content}}


def close(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def stop(reason: str | None, **usage: int) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def decode(*events: dict[str, Any]) -> tuple[Reply | Failure, list[Frame]]:
    decoder = AnthropicDecoder(SPOKEN)
    frames: list[Frame] = []
    for event in events:
        data = json.dumps(event, ensure_ascii=False)
        frames += decoder.feed(f"event: {event['type']}\ndata: {data}\n\n".encode())
    return decoder.end(), frames


def reply(*events: dict[str, Any]) -> Reply:
    result, _ = decode(*events)
    assert isinstance(result, Reply), result
    return result


def test_thoughts_text_and_calls_are_parts_in_the_order_they_began() -> None:
    result, frames = decode(
        start(input_tokens=5, cache_read_input_tokens=3, cache_creation_input_tokens=2, output_tokens=1),
        block(0, "thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="h"),
        delta(0, "thinking_delta", thinking="m"),
        delta(0, "signature_delta", signature="si"),
        delta(0, "signature_delta", signature="g="),
        close(0),
        block(1, "text", text=""),
        delta(1, "text_delta", text="I read."),
        close(1),
        block(2, "tool_use", id="c1", name="read", input={}),
        delta(2, "input_json_delta", partial_json=""),
        delta(2, "input_json_delta", partial_json='{"p":'),
        delta(2, "input_json_delta", partial_json="1}"),
        close(2),
        stop("tool_use", output_tokens=9),
        END,
    )
    assert result == Reply(
        (
            ReasoningPart("hm", {"type": "thinking", "thinking": "hm", "signature": "sig="}),
            TextPart("I read."),
            CallPart("c1", "read", '{"p":1}'),
        ),
        Stop.TOOL_CALLS,
        Usage(input_tokens=5, output_tokens=9, cache_read_tokens=3, cache_write_tokens=2),
        "m-2",
    )
    assert frames == [
        ReasoningFrame(0, "h"),
        ReasoningFrame(0, "m"),
        TextFrame(1, "I read."),
        CallFrame(2, "read", ""),
        CallFrame(2, "read", '{"p":'),
        CallFrame(2, "read", "1}"),
    ]


def test_a_thought_that_shows_nothing_is_kept_for_its_signature() -> None:
    sealed = {"type": "redacted_thinking", "data": "EmwK+/="}
    result, frames = decode(
        start(),
        block(0, "thinking", thinking="", signature=""),
        delta(0, "signature_delta", signature="sig"),
        close(0),
        block(1, kind=sealed["type"], data=sealed["data"]),
        close(1),
        block(2, "text", text=""),
        delta(2, "text_delta", text="a"),
        END,
    )
    assert isinstance(result, Reply)
    assert result.parts == (
        ReasoningPart("", {"type": "thinking", "thinking": "", "signature": "sig"}),
        ReasoningPart("", sealed),
        TextPart("a"),
    )
    assert frames == [TextFrame(2, "a")]


def test_a_thought_without_a_signature_cannot_go_back() -> None:
    events = (block(0, "thinking", thinking="hm"), close(0), block(1, "text", text="a"), close(1), END)
    assert reply(*events).parts == (ReasoningPart("hm", None), TextPart("a"))


def test_empty_blocks_are_no_parts() -> None:
    events = (block(0, "text", text=""), close(0), block(1, "tool_use", id="c", name="t", input={}), close(1), END)
    assert reply(*events) == Reply((CallPart("c", "t", ""),), Stop.TOOL_CALLS)


def test_input_that_comes_with_the_start_of_a_call_is_its_arguments() -> None:
    assert reply(block(0, "tool_use", id="c", name="t", input={"ä": 1}), close(0), END).parts == (
        CallPart("c", "t", '{"ä": 1}'),
    )


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("end_turn", Stop.END_TURN),
        ("stop_sequence", Stop.END_TURN),
        ("pause_turn", Stop.END_TURN),
        ("max_tokens", Stop.MAX_TOKENS),
        ("model_context_window_exceeded", Stop.MAX_TOKENS),
        ("refusal", Stop.REFUSAL),
        (None, Stop.END_TURN),
    ],
)
def test_why_it_stopped(reason: str | None, why: Stop) -> None:
    assert reply(block(0, "text", text="a"), stop(reason), END).stop is why


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
def test_no_room_for_a_first_token_is_a_full_window(reason: str) -> None:
    result, _ = decode(start(input_tokens=9), stop(reason), END)
    assert isinstance(result, Failure)
    assert result.cause is Cause.OVERFLOW


def test_an_answer_in_one_piece_is_an_answer() -> None:
    decoder = AnthropicDecoder(SPOKEN)
    content = [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "c", "name": "t", "input": {"p": 1}}]
    message = {"type": "message", "model": "m", "content": content, "stop_reason": "tool_use", "usage": {}}
    decoder.feed(json.dumps(message).encode())
    assert decoder.end() == Reply((TextPart("a"), CallPart("c", "t", '{"p": 1}')), Stop.TOOL_CALLS, Usage(), "m")
