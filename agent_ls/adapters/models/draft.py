"""An answer while it is put together: its parts in the order they began, and what the whole comes to.

Owns parts, the frames that grow them and the last judgement on an answer that has ended. Knows no wire and does no I/O.
"""

from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from agent_ls.adapters.models import failures
from agent_ls.adapters.models.failures import Spoken
from agent_ls.core.items import Usage
from agent_ls.core.messages import CallPart, Part, ReasoningPart, Reply, Stop, TextPart
from agent_ls.ports.provider import CallFrame, Failure, Frame, ReasoningFrame, TextFrame

LOST: Final = "\ufffd"


@dataclass
class OpenText:
    """A run of text, or of thoughts. `part` is its place in the reply; `raw` what thoughts are sent back as.

    `half`: the first half of a character beyond the basic plane, which a server spelled as two escapes in two events.
    """

    part: int
    thought: bool = False
    raw: dict[str, Any] | None = None
    pieces: list[str] = field(default_factory=list)
    half: str = ""

    @property
    def text(self) -> str:
        return "".join(self.pieces) + (LOST if self.half else "")

    def grow(self, delta: str) -> Frame:
        delta = self.half + delta
        self.half = delta[-1] if "\ud800" <= delta[-1:] <= "\udbff" else ""
        delta = _paired(delta[: len(delta) - len(self.half)])
        self.pieces.append(delta)
        return ReasoningFrame(self.part, delta) if self.thought else TextFrame(self.part, delta)

    def done(self) -> Part:
        return ReasoningPart(self.text, self.raw) if self.thought else TextPart(self.text)


@dataclass
class OpenCall:
    """A call while it streams. `part` is its place in the reply."""

    part: int
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        return _paired("".join(self.pieces))

    def begun(self) -> Frame:
        return CallFrame(self.part, self.name, self.arguments)

    def grow(self, delta: str) -> Frame:
        self.pieces.append(delta)
        return CallFrame(self.part, self.name, delta)

    def done(self) -> Part:
        return CallPart(self.id, self.name, self.arguments)


def _paired(text: str) -> str:
    """Halves of one character made one; a half without its other is no character at all."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


Opened = TypeVar("Opened", OpenText, OpenCall)


class Draft:
    """All parts of one answer."""

    def __init__(self) -> None:
        self._parts: list[OpenText | OpenCall] = []

    def text(self) -> OpenText:
        return self._add(OpenText(len(self._parts)))

    def thought(self, raw: dict[str, Any] | None = None) -> OpenText:
        return self._add(OpenText(len(self._parts), thought=True, raw=raw))

    def call(self, *, id: str = "", name: str = "") -> OpenCall:
        return self._add(OpenCall(len(self._parts), id, name))

    @property
    def empty(self) -> bool:
        return not self._parts

    def reply(self, spoken: Spoken, stop: Stop, *, usage: Usage | None, model: str | None) -> Reply | Failure:
        parts = tuple(part.done() for part in self._parts)
        called = any(isinstance(part, CallPart) for part in parts)
        if called and stop is Stop.END_TURN:
            stop = Stop.TOOL_CALLS
        elif not called and stop is Stop.TOOL_CALLS:
            stop = Stop.END_TURN
        if not parts and stop is Stop.MAX_TOKENS:
            # No room for even one token: the prompt has filled the window.
            return failures.overflow(spoken, detail="the answer had no room at all")
        if not parts and stop is not Stop.REFUSAL:
            return failures.empty(spoken)
        return Reply(parts, stop, usage, model)

    def _add(self, part: Opened) -> Opened:
        self._parts.append(part)
        return part
