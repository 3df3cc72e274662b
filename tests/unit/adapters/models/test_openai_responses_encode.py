"""A request in the words of OpenAI's Responses."""

from typing import Any

import pytest

from agent_ls.adapters.models.openai_responses_encode import encode
from agent_ls.core.items import Block
from agent_ls.core.messages import (
    AssistantTurn,
    CallPart,
    ModelMessage,
    ReasoningPart,
    ResultPart,
    ResultsTurn,
    TextPart,
    ToolSpec,
    UserTurn,
)
from agent_ls.ports.provider import ModelRequest
from agent_ls.testing.model_checks import sealed
from agent_ls.testing.model_responses import fault

READ = ToolSpec("read", "Reads.", {"type": "object", "properties": {}})
IMAGE = Block(type="image", mime_type="image/png", data="AAAA")
IMAGE_PART = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
SEALED = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": sealed("hm")}


def user(text: str) -> UserTurn:
    return UserTurn((Block(type="text", text=text),))


def message(*content: dict[str, Any], role: str = "user") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": list(content)}


def text(said: str) -> dict[str, Any]:
    return {"type": "input_text", "text": said}


def asked(*messages: ModelMessage, model: str = "m", system: str = "") -> ModelRequest:
    return ModelRequest(model=model, system=system, messages=messages, tools=(READ,), step_id="s", cache_key="k")


def sent(*messages: ModelMessage) -> list[dict[str, Any]]:
    body = encode(asked(*messages))
    assert fault(body) is None
    return body["input"]


def test_a_whole_request() -> None:
    tool = {"type": "function", "name": "read", "description": "Reads.", "parameters": READ.schema, "strict": False}
    assert encode(asked(user("hi"), model="gpt-5", system="be brief")) == {
        "model": "gpt-5",
        "input": [message(text("hi"))],
        "stream": True,
        "store": False,
        "prompt_cache_key": "k",
        "instructions": "be brief",
        "tools": [tool],
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"summary": "auto"},
    }


@pytest.mark.parametrize(
    ("model", "thinks"),
    [
        ("gpt-5", True), ("gpt-5.1-codex-max", True), ("openai/gpt-5-mini", True), ("o4-mini", True), ("gpt-6", True),
        ("gpt-4.1", False), ("gpt-4o", False), ("gpt-5-chat-latest", False), ("scripted-1", False), ("qwen3", False),
    ],
)  # fmt: skip
def test_only_models_that_think_are_asked_for_thoughts(model: str, *, thinks: bool) -> None:
    body = encode(asked(user("hi"), model=model))
    assert ("include" in body, "reasoning" in body) == (thinks, thinks)


def test_thoughts_calls_and_results_are_items_in_order_and_images_follow_all_results() -> None:
    thought = ReasoningPart("hm", {**SEALED, "id": "rs_1", "status": "completed"})
    assert sent(
        user("look"),
        AssistantTurn((thought, TextPart("I look."), CallPart("c1", "read", ""), CallPart("c2", "read", '{"p": 1}'))),
        ResultsTurn((ResultPart("c1", "seen", images=(IMAGE,)), ResultPart("c2", ""))),
        user("also do X"),
    ) == [
        message(text("look")),
        SEALED,
        message({"type": "output_text", "text": "I look."}, role="assistant"),
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
        {"type": "function_call", "call_id": "c2", "name": "read", "arguments": '{"p": 1}'},
        {"type": "function_call_output", "call_id": "c1", "output": "seen"},
        {"type": "function_call_output", "call_id": "c2", "output": "(no output)"},
        message(text("Image in the result of call c1:"), IMAGE_PART),
        message(text("also do X")),
    ]


def test_a_thought_is_never_the_last_of_a_turn_nor_sent_without_its_seal() -> None:
    thought, open_thought = ReasoningPart("hm", SEALED), ReasoningPart("hm", {"type": "reasoning", "summary": []})
    turn = AssistantTurn((open_thought, TextPart("a"), thought))
    assert sent(user("x"), turn, user("y"))[1:-1] == [message({"type": "output_text", "text": "a"}, role="assistant")]
