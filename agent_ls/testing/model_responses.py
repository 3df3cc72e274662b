"""The Responses dialect of the scripted model: how a request is read and a reply streamed.

Owns the shape of events, errors and views. What a request must look like is model_responses_checks'. Does not choose
replies and holds no socket.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent_ls.testing.model_checks import arguments_of, event, pieces, sealed
from agent_ls.testing.model_responses_checks import fault, is_assistants, text_of
from agent_ls.testing.model_scenario import SEALED, RequestView, Say, Step, Stream, Think, Tokens, UseTool

__all__ = ["HEADERS", "KEY", "PATH", "Speaker", "error_body", "fault", "view"]

PATH: Final = "/responses"
KEY: Final = ("authorization", "Bearer ")
HEADERS: Final = ()

INCOMPLETE: Final = {"length": "max_output_tokens", "content_filter": "content_filter"}


def view(body: dict[str, Any], headers: Mapping[str, str], number: int) -> RequestView:
    users: list[str] = []
    results: list[tuple[str, str]] = []
    steps, answering = 0, False
    for item in body["input"]:
        if item["type"] == "function_call_output":
            results.append((item["call_id"], item["output"]))
        elif item["type"] == "message" and item["role"] == "user":
            users.append(text_of(item))
            results = []
        steps += is_assistants(item) and not answering
        answering = is_assistants(item)
    return RequestView(
        dialect="responses",
        model=body["model"],
        system=body.get("instructions", ""),
        user_texts=tuple(users),
        results=tuple(results),
        steps=steps,
        tools=tuple(tool["name"] for tool in body.get("tools", ())),
        body=body,
        headers=headers,
        number=number,
    )


def error_body(message: str, *, kind: str = "invalid_request_error", code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


class Speaker:
    """Turns one streamed reply into events. An item stays open until a step of another kind comes."""

    def __init__(self, model: str, number: int) -> None:
        self._response = {"id": f"resp_{number}", "object": "response", "model": model, "error": None}
        self._number = number
        self._events = 0
        self._items: list[dict[str, Any]] = []
        self._open: dict[str, Any] | None = None
        self._said: list[str] = []
        self._calls = 0

    def before(self) -> bytes:
        return self._event("response.created", response={**self._response, "status": "in_progress", "output": []})

    def step(self, step: Step) -> Iterator[bytes]:
        match step:
            case Say(text, size):
                if not (self._open and self._open["type"] == "message"):
                    yield from self._begin({"type": "message", "role": "assistant", "content": []})
                yield from self._grow("response.output_text.delta", text, size)
            case Think(text, field=field) if field == SEALED:
                yield from self._begin({"type": "reasoning", "summary": [], "encrypted_content": sealed("")})
            case Think(text, size):
                if not (self._open and self._open["type"] == "reasoning"):
                    yield from self._begin({"type": "reasoning", "summary": []})
                yield from self._grow("response.reasoning_summary_text.delta", text, size)
            case UseTool():
                yield from self._call(step)
            case _:
                raise TypeError(f"the server plays {type(step).__name__} itself")

    def after(self, stream: Stream) -> Iterator[bytes]:
        yield from self._close()
        if not stream.done:
            return
        response: dict[str, Any] = {**self._response, "status": "completed", "output": self._items}
        if stream.usage is not None:
            response["usage"] = _usage(stream.usage)
        if reason := INCOMPLETE.get(stream.stop or ""):
            response |= {"status": "incomplete", "incomplete_details": {"reason": reason}}
        yield self._event(f"response.{response['status']}", response=response)

    def _call(self, step: UseTool) -> Iterator[bytes]:
        call_id = step.id or f"call_{self._number}_{self._calls}"
        self._calls += 1
        yield from self._begin({"type": "function_call", "call_id": call_id, "name": step.name, "arguments": ""})
        yield from self._grow("response.function_call_arguments.delta", arguments_of(step.arguments), step.size)

    def _grow(self, kind: str, text: str, size: int) -> Iterator[bytes]:
        self._said.append(text)
        where = {"summary_index": 0} if "summary" in kind else {"content_index": 0} if "text" in kind else {}
        for piece in pieces(text, size):
            yield self._event(kind, output_index=len(self._items), delta=piece, **where)

    def _begin(self, item: dict[str, Any]) -> Iterator[bytes]:
        yield from self._close()
        self._open = {"id": f"{item['type']}_{self._number}_{len(self._items)}", "status": "in_progress", **item}
        self._said = []
        yield self._event("response.output_item.added", output_index=len(self._items), item=self._open)

    def _close(self) -> Iterator[bytes]:
        if self._open is None:
            return
        item, text = {**self._open, "status": "completed"}, "".join(self._said)
        match item["type"]:
            case "message":
                item["content"] = [{"type": "output_text", "text": text, "annotations": []}]
            case "reasoning" if text:
                item |= {"summary": [{"type": "summary_text", "text": text}], "encrypted_content": sealed(text)}
            case "function_call":
                item["arguments"] = text
        yield self._event("response.output_item.done", output_index=len(self._items), item=item)
        self._items.append(item)
        self._open = None

    def _event(self, kind: str, **payload: Any) -> bytes:
        self._events += 1
        return event({"type": kind, "sequence_number": self._events - 1, **payload})


def _usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "input_tokens": tokens.input,
        "input_tokens_details": {"cached_tokens": tokens.cached},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens.input + tokens.output,
    }
