"""A request on the Chat Completions wire is legal whatever the history holds (B05, B17, B19)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ls.adapters.models.chat_encode import encode
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
from agent_ls.testing.model_chat import fault

READ = ToolSpec("read", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}})
IMAGE = Block(type="image", mime_type="image/png", data="AAAA")
IMAGE_PART = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def user(text: str) -> UserTurn:
    return UserTurn((Block(type="text", text=text),))


def request(*messages: ModelMessage, system: str = "", tools: tuple[ToolSpec, ...] = ()) -> ModelRequest:
    return ModelRequest(model="m", system=system, messages=messages, tools=tools, step_id="s", cache_key="k")


def sent(*messages: ModelMessage, system: str = "") -> list[dict[str, Any]]:
    body = encode(request(*messages, system=system))
    assert fault(body) is None
    return body["messages"]


def tool_call(id: str, arguments: str = "{}") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}}


def test_a_whole_request() -> None:
    body = encode(request(user("hi"), system="be brief", tools=(READ,)))
    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": READ.schema}}
        ],
    }


def test_only_the_official_server_is_told_of_caches() -> None:
    asked = ModelRequest(
        model="m", system="", messages=(user("hi"),), tools=(), step_id="s", cache_key="k", max_tokens=9
    )
    common = {"model", "messages", "stream", "stream_options"}
    assert {k: v for k, v in encode(asked).items() if k not in common} == {"max_tokens": 9}
    assert {k: v for k, v in encode(asked, official=True).items() if k not in common} == {
        "max_completion_tokens": 9,
        "prompt_cache_key": "k",
    }


def test_results_come_right_after_their_calls_and_their_images_after_all_of_them() -> None:
    assert sent(
        user("look"),
        AssistantTurn((TextPart("I look."), CallPart("c1", "read", '{"path":"a"}'), CallPart("c2", "read", "{}"))),
        ResultsTurn((ResultPart("c1", "an image", images=(IMAGE,)), ResultPart("c2", "b"))),
        user("also do X"),
    ) == [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": "I look.", "tool_calls": [tool_call("c1", '{"path":"a"}'), tool_call("c2")]},
        {"role": "tool", "tool_call_id": "c1", "content": "an image"},
        {"role": "tool", "tool_call_id": "c2", "content": "b"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Image in the result of call c1:"},
                IMAGE_PART,
                {"type": "text", "text": "also do X"},
            ],
        },
    ]


def test_no_empty_text_is_sent() -> None:
    assert sent(
        user("  \n"),
        AssistantTurn((TextPart("\n"), CallPart("c1", "read", ""))),
        ResultsTurn((ResultPart("c1", ""),)),
        AssistantTurn((ReasoningPart("hm"), TextPart(" "))),
        AssistantTurn(()),
        user("go on"),
        system=" ",
    ) == [
        {"role": "user", "content": "(empty message)"},
        {"role": "assistant", "content": None, "tool_calls": [tool_call("c1")]},
        {"role": "tool", "tool_call_id": "c1", "content": "(no output)"},
        {"role": "user", "content": "go on"},
    ]


@pytest.mark.parametrize(
    ("written", "legal"),
    [
        ("", {}),
        (" \n", {}),
        ('{"path": "a"}', {"path": "a"}),
        ('{"path": ', {"invalid_json": '{"path": '}),
        ("[1]", {"invalid_arguments": [1]}),
    ],
)
def test_arguments_go_back_as_an_object(written: str, legal: Any) -> None:
    messages = sent(user("x"), AssistantTurn((CallPart("c", "read", written),)), ResultsTurn((ResultPart("c", "r"),)))
    assert json.loads(messages[1]["tool_calls"][0]["function"]["arguments"]) == legal


def test_reasoning_goes_back_within_a_chain_of_calls_under_the_name_it_came_with() -> None:
    thought = ReasoningPart("hm", {"field": "reasoning_content"})
    messages = sent(
        user("x"),
        AssistantTurn((thought, CallPart("c", "read", "{}"))),
        ResultsTurn((ResultPart("c", "r"),)),
        AssistantTurn((thought, TextPart("done"))),
        user("y"),
    )
    assert [message.get("reasoning_content") for message in messages] == [None, "hm", None, None, None]


BLANKS = st.sampled_from(["", " ", "\n\t", "a", "ä\ud800"])
USER = st.builds(
    UserTurn,
    st.lists(st.one_of(st.builds(Block, type=st.just("text"), text=BLANKS), st.just(IMAGE)), min_size=1).map(tuple),
)
ROUND = st.lists(st.tuples(BLANKS, BLANKS, st.booleans()), max_size=3)


@given(st.lists(st.tuples(USER, BLANKS, ROUND), min_size=1, max_size=4))
def test_any_paired_history_is_accepted(rounds: list[tuple[UserTurn, str, list[tuple[str, str, bool]]]]) -> None:
    messages: list[ModelMessage] = []
    for number, (asked, text, calls) in enumerate(rounds):
        ids = [f"c{number}_{place}" for place in range(len(calls))]
        parts = [CallPart(id, "read", arguments) for id, (arguments, _, _) in zip(ids, calls, strict=True)]
        results = [
            ResultPart(id, output, images=(IMAGE,) if image else ())
            for id, (_, output, image) in zip(ids, calls, strict=True)
        ]
        messages += [asked, AssistantTurn((TextPart(text), *parts))]
        if calls:
            messages.append(ResultsTurn(tuple(results)))
    assert fault(encode(request(*messages, user("end")))) is None
