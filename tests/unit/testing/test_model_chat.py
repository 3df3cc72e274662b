"""The scripted server refuses what real servers refuse, each time with the reason."""

from typing import Any

import pytest

from agent_ls.testing.model_chat import fault

SYSTEM = {"role": "system", "content": "s"}
USER = {"role": "user", "content": "u"}
TEXT = {"role": "assistant", "content": "a"}


def calls(*ids: str, **more: Any) -> dict[str, Any]:
    made = [{"id": id, "type": "function", "function": {"name": "t", "arguments": "{}"}} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": made, **more}


def result(id: str, content: Any = "r") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "stream": True, "messages": list(messages), **more}


def tool(name: str = "t", parameters: Any = None) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters or {"type": "object"}}}


@pytest.mark.parametrize(
    "accepted",
    [
        body(USER),
        body(SYSTEM, USER, TEXT, USER, tools=[tool()], stream_options={"include_usage": True}),
        body(USER, calls("a", "b"), result("b"), result("a")),
        body(USER, calls("a"), result("a"), calls("b"), result("b"), USER),
        body({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}),
        body(USER, calls("a", reasoning_content="hm"), result("a")),
    ],
)
def test_a_legal_request_is_accepted(accepted: Any) -> None:
    assert fault(accepted) is None


@pytest.mark.parametrize(
    ("refused", "reason"),
    [
        ([], "not a JSON object"),
        (body(USER, temprature=1), "unrecognized request argument: temprature"),
        ({"model": "m", "messages": [USER], "stream_options": {}}, "only allowed when stream"),
        ({"messages": [USER]}, "model is missing"),
        (body(), "messages is empty"),
        (body({"role": "user", "content": " "}), "non-empty string"),
        (body({"role": "user", "content": []}), "no parts"),
        (body({"role": "user", "content": [{"type": "text", "text": ""}]}), "bad content part of type 'text'"),
        (body({"role": "robot", "content": "x"}), "unknown role 'robot'"),
        (body(USER, SYSTEM), "only the first message"),
        (body(USER, TEXT), "the last message is the assistant's own"),
        (body(USER, {"role": "assistant", "content": ""}, USER), "non-empty string or null"),
        (body(USER, {"role": "assistant", "content": None}, USER), "either content or tool_calls"),
        (body(USER, calls(), USER), "tool_calls is an empty array"),
        (body(USER, {**TEXT, "refusal": None}, USER), "unknown fields: refusal"),
        (body(USER, calls("a", "a"), result("a")), "repeated or illegal: 'a'"),
        (body(USER, calls("a"), result("a"), calls("a"), result("a")), "repeated or illegal: 'a'"),
        (body(USER, calls("x" * 65), result("x" * 65)), "repeated or illegal"),
        (body(USER, calls("a", "b"), result("a"), USER), "without a tool message right after their call: b"),
        (body(USER, calls("a"), USER, result("a")), "without a tool message right after their call: a"),
        (body(USER, calls("a")), "without a tool message: a"),
        (body(USER, result("a")), "answers no call"),
        (body(USER, calls("a"), result("a"), result("a")), "answers no call"),
        (body(USER, calls("a"), result("a", "")), "non-empty string"),
        (body(USER, calls("a"), result("a", [{"type": "text", "text": "r"}])), "non-empty string"),
        (body(USER, tools=[]), "tools is an empty array"),
        (body(USER, tools=[tool("a b")]), "bad or repeated name"),
        (body(USER, tools=[tool(), tool()]), "bad or repeated name"),
        (body(USER, tools=[tool(parameters={"type": "string"})]), "not the schema of an object"),
    ],
)
def test_an_illegal_request_is_refused_with_its_reason(refused: Any, reason: str) -> None:
    assert reason in (fault(refused) or "")


@pytest.mark.parametrize("arguments", ["", "[]", "{", "null"])
def test_arguments_have_to_be_an_object(arguments: str) -> None:
    message = calls("a")
    message["tool_calls"][0]["function"]["arguments"] = arguments
    assert fault(body(USER, message, result("a"))) == "messages[1]: arguments of a are not a JSON object"
