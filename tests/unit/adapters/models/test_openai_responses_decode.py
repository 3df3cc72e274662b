"""What a Responses body comes to."""

import json
from typing import Any

import pytest

from agent_ls.adapters.models.failures import Spoken
from agent_ls.adapters.models.openai_responses_decode import ResponsesDecoder
from agent_ls.core.items import Usage
from agent_ls.core.messages import CallPart, ReasoningPart, Reply, Stop, TextPart
from agent_ls.ports.provider import CallFrame, Cause, Failure, Frame, ReasoningFrame, TextFrame

SPOKEN = Spoken(provider="p", base_url="http://localhost/v1", model="m")
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA+/="}
CALL = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"p":1}'}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}


def event(kind: str, place: int = 0, **more: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "output_index": place, **more}


def ended(status: str = "completed", **more: Any) -> dict[str, Any]:
    return event(status, response={"model": "m-2", "status": status, **more})


def decode(*events: dict[str, Any]) -> tuple[Reply | Failure, list[Frame]]:
    decoder = ResponsesDecoder(SPOKEN)
    frames: list[Frame] = []
    for each in events:
        frames += decoder.feed(f"data: {json.dumps(each)}\n\n".encode())
    return decoder.end(), frames


def reply(*events: dict[str, Any]) -> Reply:
    result, _ = decode(*events)
    assert isinstance(result, Reply), result
    return result


def test_thoughts_text_and_calls_are_parts_in_the_order_they_began() -> None:
    result, frames = decode(
        event("created", response={"model": "m-1"}),
        event("output_item.added", 0, item={"type": "reasoning", "summary": []}),
        event("reasoning_summary_text.delta", 0, summary_index=0, delta="one"),
        event("reasoning_summary_text.delta", 0, summary_index=1, delta="two"),
        event("output_item.done", 0, item=THOUGHT),
        event("output_item.added", 1, item={"type": "message", "content": []}),
        event("output_text.delta", 1, content_index=0, delta="I read."),
        event("output_item.done", 1, item=SAID),
        event("output_item.added", 2, item={**CALL, "arguments": ""}),
        event("function_call_arguments.delta", 2, delta='{"p":'),
        event("function_call_arguments.delta", 2, delta="1}"),
        event("output_item.done", 2, item=CALL),
        ended(usage={"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 3}),
    )
    assert result == Reply(
        (ReasoningPart("one\n\ntwo", THOUGHT), TextPart("I read."), CallPart("c1", "read", '{"p":1}')),
        Stop.TOOL_CALLS,
        Usage(input_tokens=5, output_tokens=3, cache_read_tokens=4),
        "m-1",
    )
    assert frames == [
        ReasoningFrame(0, "one"),
        ReasoningFrame(0, "\n\ntwo"),
        TextFrame(1, "I read."),
        CallFrame(2, "read", ""),
        CallFrame(2, "read", '{"p":'),
        CallFrame(2, "read", "1}"),
    ]


@pytest.mark.parametrize("only_at_the_end", [True, False])
def test_items_that_were_not_streamed_are_taken_when_they_are_whole(*, only_at_the_end: bool) -> None:
    items = [THOUGHT, SAID, CALL]
    done = [event("output_item.done", place, item=item) for place, item in enumerate(items)]
    result = reply(ended(output=items)) if only_at_the_end else reply(*done, ended(output=items))
    assert result.parts == (ReasoningPart("", THOUGHT), TextPart("a"), CallPart("c1", "read", '{"p":1}'))


def test_a_thought_without_a_seal_cannot_go_back() -> None:
    result = reply(event("reasoning_text.delta", delta="hm"), event("output_text.delta", 1, delta="a"), ended())
    assert result.parts == (ReasoningPart("hm", None), TextPart("a"))


def test_calls_that_stream_at_once_do_not_mix() -> None:
    events = [event("output_item.added", place, item={**CALL, "call_id": f"c{place}"}) for place in range(2)]
    events += [event("function_call_arguments.delta", place, delta=delta) for delta in "[]" for place in (1, 0)]
    assert reply(*events, ended()).parts == (CallPart("c0", "read", "[]"), CallPart("c1", "read", "[]"))


@pytest.mark.parametrize(
    ("reason", "why"),
    [("max_output_tokens", Stop.MAX_TOKENS), ("content_filter", Stop.REFUSAL), ("new", Stop.MAX_TOKENS)],
)
def test_an_incomplete_answer_says_why(reason: str, why: Stop) -> None:
    end = ended("incomplete", incomplete_details={"reason": reason})
    assert reply(event("output_text.delta", delta="a"), end) == Reply((TextPart("a"),), why, None, "m-2")


def test_no_room_for_a_first_token_is_a_full_window() -> None:
    result, _ = decode(ended("incomplete", incomplete_details={"reason": "max_output_tokens"}))
    assert isinstance(result, Failure)
    assert result.cause is Cause.OVERFLOW


def test_a_refusal_is_shown_and_told() -> None:
    events = (event("refusal.delta", delta="No."), ended())
    assert reply(*events) == Reply((TextPart("No."),), Stop.REFUSAL, None, "m-2")


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("server_error", Cause.SERVER),
        ("rate_limit_exceeded", Cause.RATE_LIMITED),
        ("context_length_exceeded", Cause.OVERFLOW),
        ("insufficient_quota", Cause.NO_CREDIT),
        ("invalid_prompt", Cause.INVALID),
    ],
)
def test_a_failed_answer_is_an_error(code: str, cause: Cause) -> None:
    result, _ = decode(event("output_text.delta", delta="a"), ended("failed", error={"code": code, "message": "no"}))
    assert isinstance(result, Failure)
    assert (result.cause, result.detail, result.shown) == (cause, "no", True)


def test_an_answer_in_one_piece_is_an_answer() -> None:
    decoder = ResponsesDecoder(SPOKEN)
    decoder.feed(json.dumps({"object": "response", "status": "completed", "error": None, "output": [SAID]}).encode())
    assert decoder.end() == Reply((TextPart("a"),), Stop.END_TURN)
