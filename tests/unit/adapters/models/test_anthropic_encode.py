"""A request in the words of Anthropic's Messages."""

from typing import Any

from agent_ls.adapters.models.anthropic_encode import encode
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
from agent_ls.testing.model_anthropic import fault
from agent_ls.testing.model_checks import sealed

READ = ToolSpec("read", "Reads.", {"type": "object", "properties": {}})
IMAGE = Block(type="image", mime_type="image/png", data="AAAA")
IMAGE_BLOCK = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
MARK = {"cache_control": {"type": "ephemeral"}}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": sealed("hm")}


def user(text: str) -> UserTurn:
    return UserTurn((Block(type="text", text=text),))


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": said, **more}


def sent(*messages: ModelMessage, model: str = "m", system: str = "", **more: Any) -> dict[str, Any]:
    body = encode(
        ModelRequest(model=model, system=system, messages=messages, tools=(READ,), step_id="s", cache_key="k", **more)
    )
    assert fault(body) is None
    return body


def test_a_whole_request() -> None:
    tool = {"name": "read", "description": "Reads.", "input_schema": READ.schema}
    assert sent(user("hi"), system="be brief") == {
        "model": "m",
        "max_tokens": 8_192,
        "messages": [{"role": "user", "content": [text("hi", **MARK)]}],
        "stream": True,
        "system": [text("be brief", **MARK)],
        "tools": [tool],
    }
    assert sent(user("hi"))["tools"] == [{**tool, **MARK}]


def test_results_come_first_and_text_after_them_in_one_message() -> None:
    calls = AssistantTurn((ReasoningPart("hm", THOUGHT), TextPart("I look."), CallPart("c1", "read", '{"p": 1}')))
    results = ResultsTurn((ResultPart("c1", "seen", images=(IMAGE,)),))
    messages = sent(user("look"), calls, results, user("also do X"))["messages"]
    use = {"type": "tool_use", "id": "c1", "name": "read", "input": {"p": 1}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": [text("seen"), IMAGE_BLOCK]}
    assert messages == [
        {"role": "user", "content": [text("look", **MARK)]},
        {"role": "assistant", "content": [THOUGHT, text("I look."), use]},
        {"role": "user", "content": [result, text("also do X", **MARK)]},
    ]


def test_an_error_is_called_one_unless_it_shows_an_image() -> None:
    calls = AssistantTurn((CallPart("c1", "read", ""), CallPart("c2", "read", "")))
    failed = (ResultPart("c1", "error: no", is_error=True), ResultPart("c2", "error: no", True, (IMAGE,)))
    content = sent(user("x"), calls, ResultsTurn(failed))["messages"][2]["content"]
    assert [result.get("is_error") for result in content] == [True, None]


def test_the_two_newest_messages_of_the_user_are_marked_for_the_cache() -> None:
    turns: list[ModelMessage] = []
    for place in range(5):
        turns += [user(f"{place}"), AssistantTurn((TextPart("ok"),))]
    messages = sent(*turns, user("last"), system="sys")["messages"]
    marked = [message["content"][-1]["text"] for message in messages if "cache_control" in message["content"][-1]]
    assert marked == ["4", "last"]


def test_thoughts_are_asked_for_as_the_model_wants_it() -> None:
    assert sent(user("x"), model="claude-sonnet-4-5")["thinking"] == {"type": "enabled", "budget_tokens": 8_000}
    assert sent(user("x"), model="claude-opus-4-6")["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert "thinking" not in sent(user("x"), model="claude-sonnet-4-5", max_tokens=2_000)


def test_a_chain_of_calls_that_began_without_thoughts_ends_without_them() -> None:
    plain = AssistantTurn((CallPart("c1", "read", "{}"),))
    thoughtful = AssistantTurn((ReasoningPart("hm", THOUGHT), CallPart("c2", "read", "{}")))
    one, two = ResultsTurn((ResultPart("c1", "r"),)), ResultsTurn((ResultPart("c2", "r"),))

    def thinks(*messages: ModelMessage) -> bool:
        return "thinking" in sent(*messages, model="claude-sonnet-4-5")

    assert thinks(user("x"), thoughtful, two)
    assert thinks(user("x"), thoughtful, two, plain, one)
    assert not thinks(user("x"), plain, one)
    assert not thinks(user("x"), plain, one, user("also"), thoughtful, two)
    assert thinks(user("x"), plain, one, AssistantTurn((TextPart("done"),)), user("next"))
