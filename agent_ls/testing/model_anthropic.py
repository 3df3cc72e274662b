"""The Messages dialect of the scripted model: how a request is read and a reply streamed.

Owns the shape of events, errors and views. What a request must look like is model_anthropic_checks'. Does not choose
replies and holds no socket.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent_ls.testing.model_anthropic_checks import blocks_of, fault
from agent_ls.testing.model_checks import arguments_of, event, pieces, sealed
from agent_ls.testing.model_scenario import SEALED, RequestView, Say, Step, Stream, Think, Tokens, UseTool

__all__ = ["HEADERS", "KEY", "PATH", "Speaker", "error_body", "fault", "view"]

PATH: Final = "/messages"
KEY: Final = ("x-api-key", "")
HEADERS: Final = ("anthropic-version",)

ERRORS: Final = {"invalid_api_key": "authentication_error", "model_not_found": "not_found_error"}
STOPS: Final = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}


def view(body: dict[str, Any], headers: Mapping[str, str], number: int) -> RequestView:
    users: list[str] = []
    results: list[tuple[str, str]] = []
    for message in body["messages"]:
        if message["role"] != "user":
            continue
        blocks = blocks_of(message)
        results += [(block["tool_use_id"], text_of(block)) for block in blocks if block["type"] == "tool_result"]
        if texts := [block["text"] for block in blocks if block["type"] == "text"]:
            users.append("\n".join(texts))
            results = []
    return RequestView(
        dialect="anthropic",
        model=body["model"],
        system="\n".join(block["text"] for block in blocks_of({"content": body.get("system", [])})),
        user_texts=tuple(users),
        results=tuple(results),
        steps=sum(message["role"] == "assistant" for message in body["messages"]),
        tools=tuple(tool["name"] for tool in body.get("tools", ())),
        body=body,
        headers=headers,
        number=number,
    )


def error_body(message: str, *, kind: str = "invalid_request_error", code: str | None = None) -> dict[str, Any]:
    return {"type": "error", "error": {"type": ERRORS.get(code or "", kind), "message": message}, "request_id": "req"}


def text_of(message: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in blocks_of(message) if block["type"] == "text")


class Speaker:
    """Turns one streamed reply into events. A block stays open until a step of another kind comes."""

    def __init__(self, model: str, number: int) -> None:
        self._model = model
        self._number = number
        self._index = -1
        self._open = ""
        self._said: list[str] = []
        self._calls = 0

    def before(self) -> bytes:
        message: dict[str, Any] = {
            "id": f"msg_{self._number}",
            "type": "message",
            "role": "assistant",
            "model": self._model,
        }
        message |= {"content": [], "stop_reason": None, "stop_sequence": None}
        return event({"type": "message_start", "message": message}) + event({"type": "ping"})

    def step(self, step: Step) -> Iterator[bytes]:
        match step:
            case Say(text, size):
                yield from self._grow("text", text, size)
            case Think(text, field=field) if field == SEALED:
                yield from self._begin("redacted_thinking", data=sealed(text))
            case Think(text, size):
                yield from self._grow("thinking", text, size)
            case UseTool():
                yield from self._call(step)
            case _:
                raise TypeError(f"the server plays {type(step).__name__} itself")

    def after(self, stream: Stream) -> Iterator[bytes]:
        yield from self._close()
        stop = stream.stop
        if stop is None:
            stop = "tool_use" if self._calls else "end_turn"
        ending: dict[str, Any] = {"type": "message_delta", "delta": {"stop_reason": STOPS.get(stop, stop)}}
        if stream.usage is not None:
            ending["usage"] = _usage(stream.usage)
        if stop:
            yield event(ending)
        if stream.done:
            yield event({"type": "message_stop"})

    def _grow(self, kind: str, text: str, size: int) -> Iterator[bytes]:
        if self._open != kind:
            yield from self._begin(kind, **{kind: ""})
        self._said.append(text)
        yield from (self._delta({"type": f"{kind}_delta", kind: piece}) for piece in pieces(text, size))

    def _call(self, step: UseTool) -> Iterator[bytes]:
        call_id = step.id or f"toolu_{self._number}_{self._calls}"
        self._calls += 1
        yield from self._begin("tool_use", id=call_id, name=step.name, input={})
        for piece in pieces(arguments_of(step.arguments), step.size):
            yield self._delta({"type": "input_json_delta", "partial_json": piece})

    def _begin(self, kind: str, **block: Any) -> Iterator[bytes]:
        yield from self._close()
        self._open, self._said = kind, []
        self._index += 1
        content = {"type": kind, **block}
        yield event({"type": "content_block_start", "index": self._index, "content_block": content})

    def _close(self) -> Iterator[bytes]:
        if self._open == "thinking":
            yield self._delta({"type": "signature_delta", "signature": sealed("".join(self._said))})
        if self._open:
            yield event({"type": "content_block_stop", "index": self._index})
        self._open = ""

    def _delta(self, delta: dict[str, Any]) -> bytes:
        return event({"type": "content_block_delta", "index": self._index, "delta": delta})


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "input_tokens": tokens.input - tokens.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": tokens.cached,
        "output_tokens": tokens.output,
    }
