"""A neutral request in the words of Anthropic's Messages.

Owns what is legal on this wire: all results first in the next user message and text after them, thoughts as they came,
no empty text, marks for the prompt cache. Does no I/O. What is sent, cut or carried over is decided before
(core.context).
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from agent_ls.adapters.models.anthropic_models import longest_answer, thinking
from agent_ls.adapters.models.legal import (
    EMPTY_MESSAGE,
    block_text,
    is_picture,
    legal_arguments,
    legal_name,
    picture_type,
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

Message = dict[str, Any]

THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})
MARK: Final = {"type": "ephemeral"}


def encode(request: ModelRequest) -> dict[str, Any]:
    max_tokens = request.max_tokens or longest_answer(request.model)
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": max_tokens,
        "messages": messages_of(request.messages),
        "stream": True,
    }
    if request.system.strip():
        body["system"] = [{"type": "text", "text": request.system}]
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in request.tools
        ]
    how = thinking(request.model, max_tokens)
    if how is not None and (how["type"] == "adaptive" or _began_with_thoughts(body["messages"])):
        body["thinking"] = how
    _mark(body)
    return body


def messages_of(turns: Sequence[ModelMessage]) -> list[Message]:
    messages: list[Message] = []
    for turn in turns:
        match turn:
            case UserTurn(content):
                _add_user(messages, _content(content) or [{"type": "text", "text": EMPTY_MESSAGE}])
            case AssistantTurn():
                if parts := [_part(part) for part in said(turn) if not _is_foreign(part)]:
                    messages.append({"role": "assistant", "content": parts})
            case ResultsTurn(results):
                _add_user(messages, [_result(result) for result in results])
    return messages


def _add_user(messages: list[Message], blocks: list[Message]) -> None:
    """Joined to a user message before it: text that follows results belongs into the same message, after them."""
    if messages and messages[-1]["role"] == "user":
        messages[-1]["content"] += blocks
    else:
        messages.append({"role": "user", "content": blocks})


def _content(blocks: Iterable[Block]) -> list[Message]:
    content: list[Message] = []
    for block in blocks:
        if is_picture(block):
            source = {"type": "base64", "media_type": picture_type(block), "data": block.data}
            content.append({"type": "image", "source": source})
        elif text := block_text(block):
            content.append({"type": "text", "text": text})
    return content


def _part(part: Part) -> Message:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case ReasoningPart(raw=raw):
            assert raw is not None, "foreign thoughts were left out before"
            return raw
        case CallPart(id, name, arguments):
            given = json.loads(legal_arguments(arguments))
            return {"type": "tool_use", "id": id, "name": legal_name(name), "input": given}


def _result(result: ResultPart) -> Message:
    images = _content(result.images)
    text = result_text(result)
    sent: Message = {"type": "tool_result", "tool_use_id": result.call_id, "content": text}
    if images:
        sent["content"] = [{"type": "text", "text": text}, *images]
    elif result.is_error:
        # Not beside images: an error may hold text only, and its text begins with what went wrong anyway.
        sent["is_error"] = True
    return sent


def _is_foreign(part: Part) -> bool:
    return isinstance(part, ReasoningPart) and (part.raw or {}).get("type") not in THOUGHTS


def _began_with_thoughts(messages: Sequence[Message]) -> bool:
    """A chain of calls that began without thoughts, at another model perhaps, has to end without them.

    So do models want it that think by a budget; the newer ones do not mind. True too where no chain goes on.
    """
    began: Message | None = None
    for message in reversed(messages):
        if message["role"] == "assistant":
            began = message
        elif message["content"][0]["type"] != "tool_result":
            break
    return began is None or began["content"][0]["type"] in THOUGHTS


def _mark(body: dict[str, Any]) -> None:
    """The cache keeps what stands before a mark: tools and instructions, and the conversation so far.

    The user message before the last one is marked too: what was kept then is found again however much came since.
    """
    if "system" in body:
        body["system"][-1]["cache_control"] = MARK
    elif "tools" in body:
        body["tools"][-1]["cache_control"] = MARK
    for message in [message for message in body["messages"] if message["role"] == "user"][-2:]:
        message["content"][-1]["cache_control"] = MARK
