"""How each wire spells what the contract's tests send as raw bytes, and where it keeps what they look for.

Holds no test. A new wire is one more line in WORDS.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from agent_ls.adapters.models.anthropic import AnthropicModel
from agent_ls.adapters.models.openai_chat import OpenAIChatModel
from agent_ls.adapters.models.openai_responses import OpenAIResponsesModel
from agent_ls.ports.provider import Model
from agent_ls.testing.model_checks import sealed

TEXT = "北京🌍ä\u2028!"
Body = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Words:
    """`whole`: the events of an answer that says TEXT, used 7 + 2 tokens and ended; `end`: the last of them, as bytes.

    `odd`: events that hold nothing and do no harm; `life`: signs of life; `error`: an error inside a good answer.
    `thought`: what a thought is sent back as; `arguments`, `images`, `thoughts`: those in a request, in order.
    """

    whole: tuple[Body, ...]
    odd: tuple[Body, ...]
    error: Callable[[str, str], Body]
    thought: Callable[[str], Body]
    arguments: Callable[[Body], list[str]]
    images: Callable[[Body], list[Any]]
    thoughts: Callable[[Body], list[Any]]
    own_life: tuple[bytes, ...] = ()
    marker: bytes = b""
    seals: bool = True

    @property
    def end(self) -> bytes:
        return sse(self.whole[-1]) + self.marker

    @property
    def life(self) -> tuple[bytes, ...]:
        return (b": ping\n\n", *self.own_life)


def words(wire: Callable[..., Model]) -> Words:
    return WORDS[wire]


def sse(payload: Body, *, colon: str = "data: ", end: str = "\n", indent: int | None = None) -> bytes:
    """One event in one of its dresses; `indent` spreads its data over several lines."""
    text = json.dumps(payload, ensure_ascii=False, indent=indent)
    return "".join(f"{colon}{line}{end}" for line in text.split("\n")).encode() + end.encode()


def choice(delta: Body, *, finish: str | None = None) -> Body:
    return {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def within(value: Any) -> Iterator[Body]:
    """All objects in a body, in the order in which they stand there."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            yield from within(entry)


CHAT = Words(
    whole=(
        choice({"content": TEXT}),
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}},
        choice({}, finish="stop"),
    ),
    odd=({"choices": []}, {"id": "x"}, {"choices": [{"delta": {"content": ""}}], "usage": None}),
    error=lambda code, message: {"error": {"message": message, "type": code, "code": code}},
    thought=lambda text: {"field": "reasoning_content"},
    arguments=lambda body: [one["function"]["arguments"] for one in within(body) if "function" in one and "id" in one],
    images=lambda body: [one["image_url"]["url"] for one in within(body) if one.get("type") == "image_url"],
    thoughts=lambda body: [one["reasoning_content"] for one in within(body) if "reasoning_content" in one],
    marker=b"data: [DONE]\n\n",
    seals=False,
)

START = {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 7, "output_tokens": 1}}}
ANTHROPIC = Words(
    whole=(
        START,
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": TEXT}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ),
    odd=(
        {"type": "something_new", "index": 0},
        {"type": "content_block_start", "index": 9, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 9, "delta": {"type": "citations_delta", "citation": {}}},
        {"type": "content_block_stop", "index": 9},
        {"type": "message_delta", "delta": {"stop_reason": None}, "usage": None},
    ),
    error=lambda code, message: {"type": "error", "error": {"type": code, "message": message}},
    thought=lambda text: {"type": "thinking", "thinking": text, "signature": sealed(text)},
    arguments=lambda body: [json.dumps(one["input"]) for one in within(body) if one.get("type") == "tool_use"],
    images=lambda body: [one["source"]["data"] for one in within(body) if one.get("type") == "image"],
    thoughts=lambda body: [one for one in within(body["messages"]) if "thinking" in str(one.get("type"))],
    own_life=(b'event: ping\ndata: {"type": "ping"}\n\n',),
)

DELTA = {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": TEXT}
USED = {"input_tokens": 7, "output_tokens": 2}
RESPONSES = Words(
    whole=(
        {"type": "response.created", "response": {"model": "m", "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "content": []}},
        DELTA,
        {"type": "response.completed", "response": {"model": "m", "status": "completed", "usage": USED}},
    ),
    odd=(
        {"type": "response.something_new"},
        {"type": "response.output_text.delta", "output_index": 0, "delta": ""},
        {"type": "response.in_progress", "response": {"usage": None}},
    ),
    error=lambda code, message: {"type": "error", "code": code, "message": message, "param": None},
    thought=lambda text: {
        "id": "reasoning_0_0",
        "status": "completed",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": text}],
        "encrypted_content": sealed(text),
    },
    arguments=lambda body: [one["arguments"] for one in within(body) if one.get("type") == "function_call"],
    images=lambda body: [one["image_url"] for one in within(body) if one.get("type") == "input_image"],
    thoughts=lambda body: [one for one in within(body["input"]) if one.get("type") == "reasoning"],
)

WORDS: dict[Callable[..., Model], Words] = {
    AnthropicModel: ANTHROPIC,
    OpenAIChatModel: CHAT,
    OpenAIResponsesModel: RESPONSES,
}
