"""A neutral request in the words of OpenAI's Responses.

Owns what is legal on this wire: items in order, each output after its call, thoughts sealed as they came and never the
last of a turn, no empty text. The server keeps nothing: each request holds the whole conversation. Does no I/O. What is
sent, cut or carried over is decided before (core.context).
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from agent_ls.adapters.models.legal import (
    EMPTY_MESSAGE,
    block_text,
    data_url,
    is_picture,
    legal_arguments,
    legal_name,
    result_text,
    said,
)
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
    UserTurn,
)
from agent_ls.ports.provider import ModelRequest

Item = dict[str, Any]

# gpt-5, gpt-5.1-codex, o3, o4-mini, but not gpt-5-chat-latest; also behind a prefix such as openai/.
THINKS: Final = re.compile(r"(?:^|/)(?:gpt-(?:[5-9]|\d\d)(?!.*chat)|o\d|codex)")
SEALED: Final = "reasoning.encrypted_content"


def encode(request: ModelRequest, *, summaries: bool = True) -> dict[str, Any]:
    """`summaries`: thoughts are asked for in words too, which some accounts may not do."""
    body: dict[str, Any] = {
        "model": request.model,
        "input": items_of(request.messages),
        "stream": True,
        "store": False,
        "prompt_cache_key": request.cache_key,
    }
    if request.system.strip():
        body["instructions"] = request.system
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
                "strict": False,
            }
            for tool in request.tools
        ]
    if request.max_tokens is not None:
        body["max_output_tokens"] = request.max_tokens
    if THINKS.search(request.model):
        body["include"] = [SEALED]
        if summaries:
            body["reasoning"] = {"summary": "auto"}
    return body


def items_of(turns: Iterable[ModelMessage]) -> list[Item]:
    items: list[Item] = []
    for turn in turns:
        match turn:
            case UserTurn(content):
                items.append(_user(_content(content) or [{"type": "input_text", "text": EMPTY_MESSAGE}]))
            case AssistantTurn():
                items += _assistant(said(turn))
            case ResultsTurn(results):
                items += _outputs(results)
    return items


def _user(content: list[Item]) -> Item:
    return {"type": "message", "role": "user", "content": content}


def _content(blocks: Iterable[Block]) -> list[Item]:
    content: list[Item] = []
    for block in blocks:
        if is_picture(block):
            content.append({"type": "input_image", "image_url": data_url(block)})
        elif text := block_text(block):
            content.append({"type": "input_text", "text": text})
    return content


def _assistant(parts: Sequence[Part]) -> list[Item]:
    items = [item for part in parts if (item := _part(part)) is not None]
    while items and items[-1]["type"] == "reasoning":
        # A thought without what it led to is refused.
        items.pop()
    return items


def _part(part: Part) -> Item | None:
    match part:
        case TextPart(text):
            return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        case CallPart(id, name, arguments):
            return {
                "type": "function_call",
                "call_id": id,
                "name": legal_name(name),
                "arguments": legal_arguments(arguments),
            }
        case ReasoningPart(raw=raw) if raw and raw.get("type") == "reasoning" and raw.get("encrypted_content"):
            # Without its id: the server keeps nothing that it could name, and would look for it.
            return {name: raw[name] for name in ("type", "summary", "content", "encrypted_content") if name in raw}
        case ReasoningPart():
            return None


def _outputs(results: Iterable[ResultPart]) -> list[Item]:
    outputs: list[Item] = []
    pictures: list[Item] = []
    for result in results:
        outputs.append({"type": "function_call_output", "call_id": result.call_id, "output": result_text(result)})
        if images := _content(result.images):
            pictures += [{"type": "input_text", "text": f"Image in the result of call {result.call_id}:"}, *images]
    # Every server of this wire takes text as an output; a message of the user may hold images wherever they are known.
    return [*outputs, _user(pictures)] if pictures else outputs
