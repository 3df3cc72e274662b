"""The Chat Completions dialect of the scripted model: what it accepts and how it streams.

Owns the checks that real servers make (the strictest of them), each with its reason, and the shape of the events. Does
not choose replies and holds no socket.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent_ls.testing.model_checks import (
    NAME,
    arguments_of,
    is_data_url,
    is_object,
    is_text,
    pieces,
    tools_fault,
    unknown_keys,
)
from agent_ls.testing.model_scenario import RequestView, Say, Step, Stream, Think, Tokens, UseTool

PATH: Final = "/chat/completions"
KEY: Final = ("authorization", "Bearer ")
HEADERS: Final = ()

KNOWN_KEYS = frozenset({
    "model", "messages", "stream", "stream_options", "tools", "tool_choice", "max_tokens", "max_completion_tokens",
    "temperature", "top_p", "stop", "parallel_tool_calls", "prompt_cache_key", "reasoning_effort", "user",
})  # fmt: skip


def fault(body: Any) -> str | None:
    """Why a real server would answer 400; None if it would not."""
    if not isinstance(body, dict):
        return "the body is not a JSON object"
    if unknown := unknown_keys(body, KNOWN_KEYS):
        return unknown
    if not (isinstance(body.get("model"), str) and body["model"]):
        return "model is missing"
    if "stream_options" in body and not body.get("stream"):
        return "stream_options is only allowed when stream is true"
    messages = body.get("messages")
    if not (isinstance(messages, list) and messages):
        return "messages is empty"
    return _tools_fault(body.get("tools")) or _messages_fault(messages)


def view(body: dict[str, Any], headers: Mapping[str, str], number: int) -> RequestView:
    messages = body["messages"]
    users = [place for place, message in enumerate(messages) if message["role"] == "user"]
    since = messages[users[-1] + 1 :] if users else messages
    return RequestView(
        dialect="chat",
        model=body["model"],
        system="\n".join(text_of(message) for message in messages if message["role"] in {"system", "developer"}),
        user_texts=tuple(text_of(messages[place]) for place in users),
        results=tuple((message["tool_call_id"], text_of(message)) for message in since if message["role"] == "tool"),
        steps=sum(message["role"] == "assistant" for message in messages),
        tools=tuple(tool["function"]["name"] for tool in body.get("tools", ())),
        body=body,
        headers=headers,
        number=number,
    )


def error_body(message: str, *, kind: str = "invalid_request_error", code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def text_of(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part["type"] == "text")
    return content or ""


class Speaker:
    """Turns one streamed reply into events: `before`, then each step, then `after`."""

    def __init__(self, model: str, number: int) -> None:
        self._model = model
        self._number = number
        self._calls = 0
        self._created = 1_700_000_000

    def before(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def step(self, step: Step) -> Iterator[bytes]:
        match step:
            case Say(text, size):
                yield from (self._chunk({"content": piece}) for piece in pieces(text, size))
            case Think(text, size, field):
                yield from (self._chunk({field: piece}) for piece in pieces(text, size))
            case UseTool():
                yield from self._call(step)
            case _:
                raise TypeError(f"the server plays {type(step).__name__} itself")

    def after(self, stream: Stream) -> Iterator[bytes]:
        stop = stream.stop
        if stop is None:
            stop = "tool_calls" if self._calls else "stop"
        if stop:
            yield self._chunk({}, finish=stop)
        if stream.usage is not None:
            yield self._event({**self._base(), "choices": [], "usage": _usage(stream.usage)})
        if stream.done:
            yield b"data: [DONE]\n\n"

    def _call(self, step: UseTool) -> Iterator[bytes]:
        index, self._calls = self._calls, self._calls + 1
        call_id = step.id or f"call_{self._number}_{index}"
        first = {"index": index, "id": call_id, "type": "function"}
        yield self._chunk({"tool_calls": [{**first, "function": {"name": step.name, "arguments": ""}}]})
        for piece in pieces(arguments_of(step.arguments), step.size):
            yield self._chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})

    def _chunk(self, delta: dict[str, Any], *, finish: str | None = None) -> bytes:
        return self._event({**self._base(), "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def _base(self) -> dict[str, Any]:
        name = f"chatcmpl-{self._number}"
        return {"id": name, "object": "chat.completion.chunk", "created": self._created, "model": self._model}

    def _event(self, payload: dict[str, Any]) -> bytes:
        return b"data: " + json.dumps(payload, ensure_ascii=False).encode() + b"\n\n"


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
    }


def _tools_fault(tools: Any) -> str | None:
    for place, tool in enumerate(tools if isinstance(tools, list) else ()):
        if not (isinstance(tool, dict) and tool.get("type") == "function" and isinstance(tool.get("function"), dict)):
            return f"tools[{place}] is not of type function"
    return tools_fault([tool["function"] for tool in tools] if isinstance(tools, list) else tools, "parameters")


def _messages_fault(messages: list[Any]) -> str | None:
    owed: list[str] = []  # call ids that wait for their tool message
    seen: set[str] = set()
    for place, message in enumerate(messages):
        where = f"messages[{place}]"
        role = message.get("role") if isinstance(message, dict) else None
        if owed and role != "tool":
            return f"{where}: tool_call_ids without a tool message right after their call: {', '.join(owed)}"
        match role:
            case "system" | "developer":
                problem = "only the first message may be one of the system" if place else _text_fault(message)
            case "user":
                problem = _user_fault(message)
            case "assistant":
                problem = _assistant_fault(message, seen)
                owed = [] if problem else [call["id"] for call in message.get("tool_calls", ())]
            case "tool":
                problem = _result_fault(message, owed)
            case _:
                problem = f"unknown role {role!r}"
        if problem:
            return f"{where}: {problem}"
    if owed:
        return f"tool_call_ids without a tool message: {', '.join(owed)}"
    return "the last message is the assistant's own" if messages[-1]["role"] == "assistant" else None


def _text_fault(message: dict[str, Any]) -> str | None:
    return None if is_text(message.get("content")) else "content must be a non-empty string"


def _user_fault(message: dict[str, Any]) -> str | None:
    content = message.get("content")
    if not isinstance(content, list):
        return _text_fault(message)
    if not content:
        return "content has no parts"
    for part in content:
        match part:
            case {"type": "text", "text": text} if is_text(text):
                pass
            case {"type": "image_url", "image_url": {"url": url}} if is_data_url(url):
                pass
            case _:
                return f"bad content part of type {part.get('type') if isinstance(part, dict) else part!r}"
    return None


def _assistant_fault(message: dict[str, Any], seen: set[str]) -> str | None:
    if unknown := set(message) - {"role", "content", "tool_calls", "reasoning_content", "reasoning"}:
        return f"unknown fields: {', '.join(sorted(unknown))}"
    content, calls = message.get("content"), message.get("tool_calls")
    if content is not None and _text_fault(message):
        return "content must be a non-empty string or null"
    if calls is None:
        return "either content or tool_calls is needed" if content is None else None
    if not (isinstance(calls, list) and calls):
        return "tool_calls is an empty array"
    for call in calls:
        match call:
            case {"id": str(id), "type": "function", "function": {"name": str(name), "arguments": str(arguments)}}:
                if not NAME.fullmatch(id) or id in seen:
                    return f"tool call id is repeated or illegal: {id!r}"
                if not NAME.fullmatch(name):
                    return f"illegal function name {name!r}"
                seen.add(id)
            case _:
                return "a tool call lacks id, type, name or arguments"
        if not is_object(arguments):
            return f"arguments of {id} are not a JSON object"
    return None


def _result_fault(message: dict[str, Any], owed: list[str]) -> str | None:
    call_id = message.get("tool_call_id")
    if call_id not in owed:
        return f"role 'tool' answers no call of the assistant message before it: {call_id!r}"
    owed.remove(call_id)
    return _text_fault(message)
