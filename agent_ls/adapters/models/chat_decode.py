"""A Chat Completions answer out of bytes: frames while it streams, the whole reply at its end.

Does no I/O. Owns what counts as the end of an answer: a finish reason or `[DONE]`; without either it was cut. Errors
that come inside a good answer, web pages and plain JSON are told apart here.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from agent_ls.adapters.models import failures
from agent_ls.adapters.models.chat_calls import CallBook, OpenCall, arguments_text
from agent_ls.adapters.models.failures import Spoken
from agent_ls.adapters.models.sse import SseDecoder
from agent_ls.core.items import Usage
from agent_ls.ports.provider import (
    CallFrame,
    CallPart,
    Failure,
    Frame,
    Part,
    ReasoningFrame,
    ReasoningPart,
    Reply,
    Stop,
    TextFrame,
    TextPart,
)

LARGEST_BODY: Final = 32 * 1024 * 1024
MOST_BAD_EVENTS: Final = 100

STOPS: Final = {
    "stop": Stop.END_TURN,
    "tool_calls": Stop.TOOL_CALLS,
    "function_call": Stop.TOOL_CALLS,
    "length": Stop.MAX_TOKENS,
    "max_tokens": Stop.MAX_TOKENS,
    "content_filter": Stop.REFUSAL,
}


class _Text:
    """A run of text or reasoning; `field` is what the server calls its reasoning, empty for text."""

    __slots__ = ("field", "part", "pieces")

    def __init__(self, part: int, field: str) -> None:
        self.part = part
        self.field = field
        self.pieces: list[str] = []


class ChatDecoder:
    """Feed it the body's bytes until `over`, then `end`. `settled`: the answer is whole, only counts may still come."""

    def __init__(self, spoken: Spoken) -> None:
        self._spoken = spoken
        self._sse = SseDecoder()
        self._head = b""
        self._body: list[bytes] | None = None  # a body that is no stream of events
        self._body_size = 0
        self._sniffed = False
        self._strange = False  # begins like no stream of events
        self._parts: list[_Text | OpenCall] = []
        self._text: _Text | None = None  # the run that text may still be added to
        self._calls = CallBook()
        self._finish: str | None = None
        self._refused = False
        self._usage: Usage | None = None
        self._model: str | None = None
        self._failure: Failure | None = None
        self._sample = ""  # the last event that was none
        self.over = False
        self.shown = False
        self.events = 0
        self.bad_events = 0

    @property
    def settled(self) -> bool:
        return self.over or self._finish is not None

    def feed(self, chunk: bytes) -> Sequence[Frame]:
        if self.over:
            return ()
        if not self._sniffed:
            chunk = self._sniff(chunk)
        if self._body is not None:
            self._keep(chunk)
            return ()
        frames: list[Frame] = []
        for event in self._sse.feed(chunk):
            self._event(event.data, frames)
        if self._sse.too_large:
            self._fail(failures.nonsense(self._spoken, "sends an event without an end", shown=self.shown))
        self.shown = self.shown or bool(frames)
        return frames

    def end(self, *, cut_by: str | None = None) -> Reply | Failure:
        """What it all came to. `cut_by`: the connection broke, in the words of the library."""
        if self._body is not None and not self.over and cut_by is None:
            self._whole_body(b"".join(self._body))
        if self._failure is not None:
            return self._failure
        if not self.settled:
            if cut_by is None and self.events == 0 and (self._strange or self.bad_events):
                what = "answered with something that is no stream of a model"
                return failures.nonsense(self._spoken, what, sample=self._sample)
            return failures.cut(self._spoken, shown=self.shown, detail=cut_by or "")
        return self._reply()

    # How the body begins tells a stream of events from a page or a plain answer, whatever its content type says.
    def _sniff(self, chunk: bytes) -> bytes:
        head = self._head = self._head + chunk
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        self._strange = True
        if len(head) < 4 or not start:
            return b""
        self._sniffed = True
        self._head = b""
        if start[:1] in {b"{", b"[", b"<"}:
            self._body = []
        self._strange = not start.startswith((b"data", b":", b"event", b"id", b"retry"))
        return head

    def _keep(self, chunk: bytes) -> None:
        assert self._body is not None
        self._body.append(chunk)
        self._body_size += len(chunk)
        if self._body_size > LARGEST_BODY:
            self._fail(failures.nonsense(self._spoken, "sends an answer without an end"))

    def _event(self, data: str, frames: list[Frame]) -> None:
        if self.over:
            return
        if data.startswith("[DONE]"):
            self.over = True
            return
        try:
            payload = json.loads(data)
        except ValueError:
            self._bad_event(data)
            return
        if not isinstance(payload, dict):
            self._bad_event(data)
            return
        self.events += 1
        if "error" in payload or "choices" not in payload:
            error = failures.error_in(payload)
            if error is not None:
                self._fail(failures.from_error(self._spoken, error, shown=self.shown or bool(frames)))
                return
        self._payload(payload, frames)

    def _bad_event(self, data: str) -> None:
        """A keep-alive in a data field does no harm; a broken object has lost a piece of the answer."""
        self.bad_events += 1
        self._sample = data[:200]
        if data.lstrip().startswith("{") or self.bad_events > MOST_BAD_EVENTS:
            self._fail(failures.nonsense(self._spoken, "sends broken events", sample=data[:200], shown=self.shown))

    def _payload(self, payload: dict[str, Any], frames: list[Frame]) -> None:
        if self._model is None and isinstance(model := payload.get("model"), str) and model:
            self._model = model
        if isinstance(counts := payload.get("usage"), dict):
            self._usage = usage_of(counts)
        choices = payload.get("choices")
        if not (isinstance(choices, list) and choices and isinstance(choices[0], dict)):
            return
        choice = choices[0]
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            self._delta(delta, frames)
        finish = choice.get("finish_reason") or choice.get("finishReason")
        if isinstance(finish, str) and finish:
            if finish == "error":
                error = failures.error_in(choice) or failures.ServerError("finish_reason: error")
                self._fail(failures.from_error(self._spoken, error, shown=self.shown or bool(frames)))
            self._finish = finish

    def _delta(self, delta: dict[str, Any], frames: list[Frame]) -> None:
        for field in ("reasoning_content", "reasoning"):
            thought = delta.get(field)
            if thought and isinstance(thought, str):
                frames.append(ReasoningFrame(self._grow(field, thought), thought))
                break
        text = delta.get("content")
        if isinstance(text, list):
            text = "".join(part.get("text") or "" for part in text if isinstance(part, dict))
        if text and isinstance(text, str):
            frames.append(TextFrame(self._grow("", text), text))
        refusal = delta.get("refusal")
        if refusal and isinstance(refusal, str):
            self._refused = True
            frames.append(TextFrame(self._grow("", refusal), refusal))
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            for fragment in calls:
                if isinstance(fragment, dict):
                    self._fragment(fragment, frames)

    def _grow(self, field: str, delta: str) -> int:
        run = self._text
        if run is None or run.field != field:
            run = self._text = _Text(len(self._parts), field)
            self._parts.append(run)
        run.pieces.append(delta)
        return run.part

    def _fragment(self, fragment: dict[str, Any], frames: list[Frame]) -> None:
        function = fragment.get("function")
        if not isinstance(function, dict):
            function = {}
        name = function.get("name")
        name = name if isinstance(name, str) else ""
        arguments = arguments_text(function.get("arguments"))
        call = self._calls.find(fragment, name, arguments)
        if call is None:
            call = OpenCall(len(self._parts))
            self._parts.append(call)
            self._text = None
            self._calls.add(fragment, call)
        else:
            self._calls.touch(fragment, call)
        named_now = bool(name) and not call.name
        if named_now:
            call.name = name
        if arguments:
            call.pieces.append(arguments)
        if named_now:
            frames.append(CallFrame(call.part, name, call.arguments))
        elif arguments and call.name:
            frames.append(CallFrame(call.part, call.name, arguments))

    def _whole_body(self, body: bytes) -> None:
        """An answer in one piece, from a server that does not stream; or a page that is no answer at all."""
        try:
            payload = json.loads(body.removeprefix(b"\xef\xbb\xbf"))
        except ValueError:
            payload = None
        error = failures.error_in(payload)
        if error is not None:
            self._fail(failures.from_error(self._spoken, error, shown=False))
        elif isinstance(payload, dict) and isinstance(payload.get("choices"), list) and payload["choices"]:
            self._payload(payload, [])
            self.over = True
        else:
            what = "answered with a web page" if b"<" in body[:64] else "answered with something else"
            self._fail(failures.nonsense(self._spoken, what, sample=failures.plain(body)))

    def _reply(self) -> Reply | Failure:
        parts = tuple(_part(part) for part in self._parts)
        called = any(isinstance(part, CallPart) for part in parts)
        stop = STOPS.get(self._finish or "", Stop.END_TURN)
        if self._refused:
            stop = Stop.REFUSAL
        elif called and stop is Stop.END_TURN:
            stop = Stop.TOOL_CALLS
        elif not called and stop is Stop.TOOL_CALLS:
            stop = Stop.END_TURN
        if not parts and stop is Stop.MAX_TOKENS:
            # No room for even one token: the prompt has filled the window.
            return failures.overflow(self._spoken, detail="the answer had no room at all")
        if not parts and stop is not Stop.REFUSAL:
            return failures.empty(self._spoken)
        return Reply(parts, stop, self._usage, self._model)

    def _fail(self, failure: Failure) -> None:
        self._failure = failure
        self.over = True


def usage_of(counts: dict[str, Any]) -> Usage:
    """Tokens as our ledger counts them: what came from a cache is not counted as input a second time."""
    details = counts.get("prompt_tokens_details")
    cached = _count(details if isinstance(details, dict) else {}, "cached_tokens")
    cached = cached or _count(counts, "prompt_cache_hit_tokens")
    cost = counts.get("cost")
    return Usage(
        input_tokens=max(_count(counts, "prompt_tokens") - cached, 0),
        output_tokens=_count(counts, "completion_tokens"),
        cache_read_tokens=cached,
        cost_usd=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
    )


def _count(counts: dict[str, Any], name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) and value > 0 else 0


def _part(part: _Text | OpenCall) -> Part:
    if isinstance(part, OpenCall):
        return CallPart(part.id, part.name, part.arguments)
    text = "".join(part.pieces)
    return ReasoningPart(text, {"field": part.field}) if part.field else TextPart(text)
