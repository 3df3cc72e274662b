"""A neutral request in the words of Chat Completions.

Owns what is legal on this wire: no empty text, results right after their calls, images where images may stand. Does no
I/O. What is sent, cut or carried over is decided before (core.context).
"""

from collections.abc import Iterable
from typing import Any

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
from agent_ls.core.messages import AssistantTurn, CallPart, ReasoningPart, ResultPart, ResultsTurn, TextPart, UserTurn
from agent_ls.ports.provider import ModelRequest

Message = dict[str, Any]


def encode(request: ModelRequest, *, official: bool = False) -> dict[str, Any]:
    """The body of the request. `official`: the server is OpenAI's own, which knows fields that others refuse."""
    body: dict[str, Any] = {
        "model": request.model,
        "messages": messages_of(request),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
            }
            for tool in request.tools
        ]
    if request.max_tokens is not None:
        body["max_completion_tokens" if official else "max_tokens"] = request.max_tokens
    if official:
        body["prompt_cache_key"] = request.cache_key
    return body


def messages_of(request: ModelRequest) -> list[Message]:
    messages: list[Message] = []
    if request.system.strip():
        messages.append({"role": "system", "content": request.system})
    for turn in request.messages:
        match turn:
            case UserTurn(content):
                _add_user(messages, _user_content(content))
            case AssistantTurn():
                messages.extend(_assistant(said(turn)))
            case ResultsTurn(results):
                _add_results(messages, results)
    return messages


def _user_content(blocks: Iterable[Block]) -> list[Message]:
    return [part for block in blocks if (part := _part(block)) is not None]


def _part(block: Block) -> Message | None:
    if is_picture(block):
        return {"type": "image_url", "image_url": {"url": data_url(block)}}
    text = block_text(block)
    return {"type": "text", "text": text} if text else None


def _add_user(messages: list[Message], parts: list[Message]) -> None:
    """Joined to a user message before it: chat templates of local models want roles to alternate."""
    if messages and messages[-1]["role"] == "user":
        parts = _as_parts(messages.pop()["content"]) + parts
    elif not parts:
        parts = [{"type": "text", "text": EMPTY_MESSAGE}]
    if all(part["type"] == "text" for part in parts):
        # A plain string is understood by every server, a list of parts is not.
        messages.append({"role": "user", "content": "\n\n".join(part["text"] for part in parts)})
    else:
        messages.append({"role": "user", "content": parts})


def _as_parts(content: str | list[Message]) -> list[Message]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _assistant(parts: Iterable[TextPart | ReasoningPart | CallPart]) -> list[Message]:
    texts, thoughts, calls = [], [], []
    for part in parts:
        match part:
            case TextPart(text):
                texts.append(text)
            case ReasoningPart():
                thoughts.append(part)
            case CallPart():
                calls.append(part)
    text = "".join(texts)
    if not calls:
        # Thoughts without an answer say nothing to the next request, and an empty message is refused.
        return [{"role": "assistant", "content": text}] if text else []
    message: Message = {"role": "assistant", "content": text or None}
    message |= _replayed_reasoning(thoughts)
    message["tool_calls"] = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": legal_name(call.name), "arguments": legal_arguments(call.arguments)},
        }
        for call in calls
    ]
    return [message]


def _replayed_reasoning(thoughts: Iterable[ReasoningPart]) -> Message:
    """Some models want their thoughts back within a chain of calls, under the name they gave them; others refuse it."""
    replayed: dict[str, str] = {}
    for part in thoughts:
        field = (part.raw or {}).get("field")
        if field in {"reasoning_content", "reasoning"} and part.text.strip():
            replayed[field] = replayed.get(field, "") + part.text
    return dict(replayed)


def _add_results(messages: list[Message], results: Iterable[ResultPart]) -> None:
    pictures: list[Message] = []
    for result in results:
        messages.append({"role": "tool", "tool_call_id": result.call_id, "content": result_text(result)})
        if images := _user_content(result.images):
            pictures += [{"type": "text", "text": f"Image in the result of call {result.call_id}:"}, *images]
    if pictures:
        # A tool message holds text only; a user message may hold images, and all results have been given by then.
        _add_user(messages, pictures)
