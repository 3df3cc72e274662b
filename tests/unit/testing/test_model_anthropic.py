"""The scripted server refuses what Anthropic's Messages refuse, each time with the reason."""

from typing import Any

import pytest

from agent_ls.testing.model_anthropic import fault
from agent_ls.testing.model_checks import sealed

MARK = {"cache_control": {"type": "ephemeral"}}
USER = {"role": "user", "content": "u"}
TEXT = {"type": "text", "text": "a"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": sealed("hm")}
HIDDEN = {"type": "redacted_thinking", "data": sealed("x")}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
SVG = {"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": "AAAA"}}
BUDGET = {"type": "enabled", "budget_tokens": 1024}


def use(id: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "t", "input": {}, **more}


def result(id: str, content: Any = "r", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def says(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def asks(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 4096, "messages": list(messages), **more}


def tool(name: str = "t", schema: Any = None) -> dict[str, Any]:
    return {"name": name, "input_schema": schema or {"type": "object"}}


@pytest.mark.parametrize(
    "accepted",
    [
        body(USER, system="s", stream=True, tools=[tool()]),
        body(USER, says(TEXT), says(TEXT), asks(TEXT, IMAGE)),
        body(USER, says(use("a"), use("b")), asks(result("b"), result("a", [TEXT, IMAGE]), TEXT)),
        body(USER, says(THOUGHT, HIDDEN, TEXT, use("a")), asks(result("a", is_error=True)), thinking=BUDGET),
        body(USER, says(THOUGHT, use("a")), asks(result("a")), says(use("b")), asks(result("b")), thinking=BUDGET),
        body(USER, says(use("a")), asks(result("a")), thinking={"type": "adaptive"}),
        body(asks({**TEXT, **MARK}), system=[{**TEXT, **MARK}], tools=[{**tool(), **MARK}]),
    ],
)
def test_a_legal_request_is_accepted(accepted: Any) -> None:
    assert fault(accepted) is None


@pytest.mark.parametrize(
    ("refused", "reason"),
    [
        ([], "not a JSON object"),
        (body(USER, prompt_cache_key="k"), "unrecognized request argument: prompt_cache_key"),
        ({"model": "m", "messages": [USER]}, "max_tokens is missing"),
        ({"max_tokens": 1, "messages": [USER]}, "model is missing"),
        (body(), "messages is empty"),
        (body(USER, system=" "), "system: text content blocks must be non-empty"),
        (body({"role": "system", "content": "s"}), "unknown role 'system'"),
        (body(says(TEXT), USER), "the first message has to be the user's"),
        (body(USER, says(TEXT)), "has to end with a message of the user"),
        (body({"role": "user", "content": ""}), "content is empty"),
        (body(asks({**TEXT, "text": "\n"})), "must be non-empty"),
        (body(USER, says({**TEXT, "text": ""}, use("a")), asks(result("a"))), "must be non-empty"),
        (body(USER, says(TEXT, THOUGHT | {"thinking": "hm."}), USER), "invalid signature"),
        (body(USER, says(THOUGHT | {"signature": ""}, TEXT), USER), "invalid signature"),
        (body(USER, says(THOUGHT | MARK, TEXT), USER), "extra inputs are not permitted: cache_control"),
        (body(USER, says(HIDDEN | {"data": "x"}, TEXT), USER), "redacted_thinking: invalid data"),
        (body(USER, says(THOUGHT), USER), "nothing but thoughts"),
        (body(USER, says(use("a"), use("a")), asks(result("a"))), "ids must be unique: 'a'"),
        (body(USER, says(use("a.b")), asks(result("a.b"))), "illegal id or name"),
        (body(USER, says(use("a", name="../x")), asks(result("a"))), "illegal id or name"),
        (body(USER, says(use("a", input="{}")), asks(result("a"))), "of the wrong type"),
        (body(USER, says(use("a"), use("b")), asks(result("a"))), "without tool_result right after: b"),
        (body(USER, says(use("a")), says(TEXT), asks(result("a"))), "without tool_result right after: a"),
        (body(USER, says(use("a")), asks(TEXT, result("a"))), "tool_result blocks have to come first"),
        (body(USER, says(use("a")), asks(result("a"), result("a"))), "unexpected tool_use_id"),
        (body(USER, says(TEXT), asks(result("a"))), "unexpected tool_use_id"),
        (body(USER, says(use("a")), asks(result("a", ""))), "must be non-empty"),
        (body(USER, says(use("a")), asks(result("a", [IMAGE], is_error=True))), "must be text if is_error"),
        (body(USER, says(use("a")), asks(result("a", [use("b")]))), "may not stand here"),
        (body(asks(SVG)), "image: bad source"),
        (body(asks({"type": "image_url", "image_url": {"url": "data:"}})), "may not stand here"),
        (body(USER, tools=[]), "tools is an empty array"),
        (body(USER, tools=[tool(), tool()]), "bad or repeated name"),
        (body(USER, tools=[{"name": "t", "parameters": {}}]), "not the schema of an object"),
        (body(USER, thinking={"type": "enabled", "budget_tokens": 4096}), "less than max_tokens"),
        (body(USER, says(use("a")), asks(result("a")), thinking=BUDGET), "a chain of calls has to begin with it"),
        (body(asks(*[{**TEXT, **MARK}] * 5)), "at most 4 blocks"),
        (body(asks({**TEXT, "cache_control": {"type": "for ever"}})), "cache_control: unknown type"),
    ],
)
def test_an_illegal_request_is_refused_with_its_reason(refused: Any, reason: str) -> None:
    assert reason in (fault(refused) or "")
