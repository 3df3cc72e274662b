"""An answer out of bytes, as far as all wires agree: events, pages, plain JSON, errors inside a good answer.

Owns what counts as an event and what an answer without its end was. A wire says which events are its own, what each
means and why the answer stopped. Does no I/O.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from pydantic_core import from_json

from agent_ls.adapters.models import failures
from agent_ls.adapters.models.draft import Draft
from agent_ls.adapters.models.failures import ServerError, Spoken
from agent_ls.adapters.models.sse import SseDecoder
from agent_ls.core.items import Usage
from agent_ls.core.messages import Reply, Stop
from agent_ls.ports.provider import Failure, Frame

LARGEST_BODY: Final = 32 * 1024 * 1024
MOST_BAD_EVENTS: Final = 100
LIFE_SIGNS: Final = frozenset({"ping", "keepalive"})


class AnswerDecoder(ABC):
    """Feed it the body's bytes until `over`, then `end`. `settled`: the answer is whole, only counts may still come."""

    ENDS_AT_DONE: ClassVar[bool] = False
    """Whether `[DONE]` is an end of its own, and not just the last word after one."""

    def __init__(self, spoken: Spoken) -> None:
        self._spoken = spoken
        self._sse = SseDecoder()
        self._head = b""
        self._body: list[bytes] | None = None  # a body that is no stream of events
        self._body_size = 0
        self._sniffed = False
        self._strange = False  # begins like no stream of events
        self._failure: Failure | None = None
        self._sample = ""  # the last event that was none
        self._draft = Draft()
        self._usage: Usage | None = None
        self._model: str | None = None
        self.over = False
        self.shown = False
        self.events = 0
        self.bad_events = 0

    @property
    def settled(self) -> bool:
        return self.over

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
        return self._draft.reply(self._spoken, self._stop(), usage=self._usage, model=self._model)

    # What a wire says.

    @abstractmethod
    def _is_own(self, payload: dict[str, Any]) -> bool:
        """Whether an event is one of this wire; what is not may be an error, or harmless."""

    @abstractmethod
    def _take(self, payload: dict[str, Any], frames: list[Frame]) -> None: ...

    @abstractmethod
    def _take_whole(self, payload: dict[str, Any]) -> bool:
        """An answer in one piece, from a server that does not stream. False: it is none."""

    @abstractmethod
    def _stop(self) -> Stop: ...

    # What a wire may use.

    def _name_model(self, name: Any) -> None:
        if self._model is None and name and isinstance(name, str):
            self._model = name

    def _refuse(self, error: ServerError, frames: Sequence[Frame] = ()) -> None:
        self._fail(failures.from_error(self._spoken, error, shown=self.shown or bool(frames)))

    def _fail(self, failure: Failure) -> None:
        self._failure = failure
        self.over = True

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
            self.over = self.ENDS_AT_DONE
            return
        try:
            payload = from_json(data)
        except ValueError:
            # It refuses a little of what servers get away with, half a surrogate pair for one.
            try:
                payload = json.loads(data)
            except ValueError:
                self._bad_event(data)
                return
        if not isinstance(payload, dict):
            self._bad_event(data)
            return
        own = self._is_own(payload)
        if "error" in payload or not own:
            error = failures.error_in(payload)
            if error is not None:
                self._refuse(error, frames)
                return
        if payload.get("type") not in LIFE_SIGNS:
            self.events += 1
            self._take(payload, frames)

    def _bad_event(self, data: str) -> None:
        """A keep-alive in a data field does no harm; a broken object has lost a piece of the answer."""
        self.bad_events += 1
        self._sample = data[:200]
        if data.lstrip().startswith("{") or self.bad_events > MOST_BAD_EVENTS:
            self._fail(failures.nonsense(self._spoken, "sends broken events", sample=data[:200], shown=self.shown))

    def _whole_body(self, body: bytes) -> None:
        """An answer in one piece, or a page that is no answer at all."""
        try:
            payload = json.loads(body.removeprefix(b"\xef\xbb\xbf"))
        except ValueError:
            payload = None
        error = failures.error_in(payload)
        if error is not None:
            self._refuse(error)
        elif isinstance(payload, dict) and self._take_whole(payload):
            self.over = True
        else:
            what = "answered with a web page" if b"<" in body[:64] else "answered with something else"
            self._fail(failures.nonsense(self._spoken, what, sample=failures.plain(body)))


def count(counts: Any, name: str) -> int:
    """A number of tokens out of what a server counted; 0 for anything that is none."""
    value = counts.get(name) if isinstance(counts, dict) else None
    return value if isinstance(value, int) and value > 0 else 0


def text_in(payload: Any, name: str) -> str:
    value = payload.get(name) if isinstance(payload, dict) else None
    return value if isinstance(value, str) else ""
