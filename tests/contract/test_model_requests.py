"""Whatever a history holds, each wire makes of it a request that its server accepts."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ls.core.items import Block
from agent_ls.core.messages import (
    AssistantTurn,
    CallPart,
    ModelMessage,
    Part,
    ReasoningPart,
    ResultPart,
    ResultsTurn,
    TextPart,
    ToolSpec,
    UserTurn,
)
from agent_ls.ports.provider import ModelRequest
from agent_ls.testing import model_anthropic, model_chat, model_responses
from tests.contract.model_line import WIRES
from tests.contract.model_words import WORDS

FAULTS = {"anthropic": model_anthropic.fault, "chat": model_chat.fault, "responses": model_responses.fault}
MODELS = ["scripted-1", "claude-sonnet-4-5", "claude-opus-4-6", "gpt-5"]
READ = ToolSpec("read", "Reads.", {"type": "object", "properties": {}})

BLANKS = st.sampled_from(["", " ", "\n\t", "a", "ä\U0001f30d"])
PICTURES = st.sampled_from([("image/png", "AAAA"), ("image/jpg", "AAAA"), ("image/svg+xml", "AAAA"), (None, "")])
IMAGE = PICTURES.map(lambda of: Block(type="image", mime_type=of[0], data=of[1]))
USER = st.lists(st.builds(Block, type=st.just("text"), text=BLANKS) | IMAGE, min_size=1).map(tuple).map(UserTurn)
THOUGHT = st.sampled_from([ReasoningPart("hm", words.thought("hm")) for words in WORDS.values()])
SAID: st.SearchStrategy[Part] = BLANKS.map(TextPart) | THOUGHT
CALL = st.tuples(st.sampled_from(["read", "../x", ""]), st.sampled_from(["", "{}", "{", "[1]", '{"a": 1}']))
RESULT = st.tuples(BLANKS, st.booleans(), st.lists(IMAGE, max_size=2).map(tuple))
STEP = st.tuples(st.lists(SAID, max_size=3), st.lists(st.tuples(CALL, RESULT), max_size=3), st.lists(SAID, max_size=1))


def turns_of(number: int, step: Any) -> list[ModelMessage]:
    before, calls, after = step
    parts: list[Part] = list(before)
    results: list[ResultPart] = []
    for place, ((name, arguments), (text, is_error, images)) in enumerate(calls):
        parts.append(CallPart(f"c{number}_{place}", name, arguments))
        results.append(ResultPart(f"c{number}_{place}", text, is_error, images))
    turns: list[ModelMessage] = [AssistantTurn((*parts, *after))]
    return [*turns, ResultsTurn(tuple(results))] if results else turns


@pytest.mark.parametrize("name", sorted(WIRES))
@given(
    rounds=st.lists(st.tuples(USER, st.lists(STEP, max_size=3)), min_size=1, max_size=4),
    model=st.sampled_from(MODELS),
    system=BLANKS,
    open_chain=st.booleans(),
)
def test_any_paired_history_is_accepted(name: str, rounds: Any, model: str, system: str, *, open_chain: bool) -> None:
    messages: list[ModelMessage] = []
    for number, (asked, steps) in enumerate(rounds):
        messages.append(asked)
        for place, step in enumerate(steps):
            messages += turns_of(number * 10 + place, step)
    if not (open_chain and isinstance(messages[-1], ResultsTurn)):
        messages.append(UserTurn((Block(type="text", text="end"),)))
    request = ModelRequest(
        model=model, system=system, messages=tuple(messages), tools=(READ,), step_id="s", cache_key="k"
    )
    body = WIRES[name](name="p", base_url="http://localhost/v1")._body(request)  # type: ignore[attr-defined]
    assert FAULTS[name](body) is None
