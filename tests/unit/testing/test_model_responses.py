"""The scripted server refuses what OpenAI's Responses refuse, each time with the reason."""

from typing import Any

import pytest

from agent_ls.testing.model_checks import sealed
from agent_ls.testing.model_responses import fault

THOUGHT = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": sealed("hm")}
IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}


def message(*parts: Any, role: str = "user") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": list(parts)}


def text(said: str = "u") -> dict[str, Any]:
    return {"type": "input_text", "text": said}


def call(id: str, **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": id, "name": "t", "arguments": "{}", **more}


def output(id: str, said: Any = "r") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": said}


USER = message(text())
SAID = message({"type": "output_text", "text": "a"}, role="assistant")


def body(*items: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "input": list(items), **more}


def tool(name: str = "t", parameters: Any = None) -> dict[str, Any]:
    return {"type": "function", "name": name, "parameters": parameters or {"type": "object"}}


@pytest.mark.parametrize(
    "accepted",
    [
        body(USER, instructions="s", stream=True, store=False, tools=[tool()], prompt_cache_key="k"),
        body(USER, SAID, message(text(), IMAGE)),
        body(USER, THOUGHT, THOUGHT, SAID, call("a"), call("b"), output("b"), output("a"), USER),
        body(USER, call("a"), SAID, output("a")),
    ],
)
def test_a_legal_request_is_accepted(accepted: Any) -> None:
    assert fault(accepted) is None


@pytest.mark.parametrize(
    ("refused", "reason"),
    [
        ([], "not a JSON object"),
        (body(USER, max_tokens=1), "unrecognized request argument: max_tokens"),
        ({"input": [USER]}, "model is missing"),
        (body(), "input is empty"),
        (body(USER, instructions=" "), "instructions must be"),
        (body(USER, prompt_cache_key="k" * 65), "prompt_cache_key is too long"),
        (body(message()), "content has no parts"),
        (body(message(text(" "))), "bad part of type 'input_text'"),
        (body(message({"type": "text", "text": "u"})), "bad part of type 'text'"),
        (body(message(text(), role="assistant"), USER), "bad part of type 'input_text' for 'assistant'"),
        (body(message({"type": "input_image", "image_url": "data:image/svg+xml;base64,AAAA"})), "bad part of type"),
        (body({**USER, "id": "msg_1"}), "unknown or missing fields"),
        (body({"type": "thought"}), "unknown type 'thought'"),
        (body(USER, SAID), "the last item is the assistant's own"),
        (body(USER, call("a"), call("a"), output("a")), "repeated or illegal: 'a'"),
        (body(USER, call("x" * 65), output("x" * 65)), "repeated or illegal"),
        (body(USER, call("a", name="../x"), output("a")), "illegal function name"),
        (body(USER, call("a", arguments=""), output("a")), "not a JSON object"),
        (body(USER, call("a", arguments={}), output("a")), "lacks call_id, name or arguments"),
        (body(USER, call("a"), USER, output("a")), "no tool output for function call a"),
        (body(USER, call("a")), "no tool output for function call a"),
        (body(USER, output("a")), "no tool call found"),
        (body(USER, call("a"), output("a"), output("a")), "no tool call found"),
        (body(USER, call("a"), output("a", "")), "output must be a non-empty string"),
        (body(USER, THOUGHT, USER), "without the item that has to follow it"),
        (body(USER, THOUGHT | {"encrypted_content": sealed("hm.")}, SAID, USER), "could not be verified"),
        (body(USER, THOUGHT | {"summary": []}, SAID, USER), "could not be verified"),
        (body(USER, {"type": "reasoning", "id": "rs_1", "summary": []}, SAID, USER), "needs its encrypted content"),
        (body(USER, tools=[]), "tools is an empty array"),
        (body(USER, tools=[{"type": "function", "function": tool()}]), "bad or repeated name"),
        (body(USER, tools=[{"name": "t"}]), "not of type function"),
        (body(USER, tools=[tool(parameters={"type": "string"})]), "not the schema of an object"),
    ],
)
def test_an_illegal_request_is_refused_with_its_reason(refused: Any, reason: str) -> None:
    assert reason in (fault(refused) or "")
