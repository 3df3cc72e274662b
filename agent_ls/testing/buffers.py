"""Buffers of a scripted editor: text as a client has it, edits as real editors take them, and as they should not.

    buffers = Buffers("utf-16")
    await editor.notify("textDocument/didOpen", buffers.open(path))
    await editor.notify("textDocument/didChange", buffers.type(path, "unsaved\\n"))
    editor.answer = buffers.answer

Owns what a client does with `workspace/applyEdit` and `agent/document/save`. Positions are counted here anew, one
character at a time: a mistake in the daemon's counting is not made twice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

Json = dict[str, Any]

_SIZES = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class Manner(Enum):
    """How an edit is taken. STALE: typed in just before it comes, then skipped and called applied, as Neovim does."""

    RIGHT = "right"
    LIES = "lies"
    STALE = "stale"
    TYPES_ELSEWHERE = "types_elsewhere"
    TYPES_THERE = "types_there"
    ERROR = "error"
    REFUSES = "refuses"
    NULL = "null"
    SILENT = "silent"
    LEAVES = "leaves"


@dataclass
class Buffer:
    """`text` is what is on the person's screen, `edits` how many were applied (each is one undo step)."""

    uri: str
    path: Path
    text: str
    version: int = 1
    modified: bool = False
    edits: list[Sequence[Json]] = field(default_factory=list)


@dataclass
class Answer:
    """`reply` is `{"result": …}` or `{"error": …}`, None for silence. `before` and `after` it, notifications come."""

    reply: Json | None
    before: list[tuple[str, Json]] = field(default_factory=list)
    after: list[tuple[str, Json]] = field(default_factory=list)
    leaves: bool = False


def no_such_method(method: str, params: Json) -> Answer:
    return Answer({"error": {"code": -32601, "message": "This editor has no such method."}})


class Buffers:
    """`formatter`: what is done to a text on saving. `late`: the didChange of an edit comes after the answer to it."""

    def __init__(self, encoding: str = "utf-16", *, late: bool = False) -> None:
        self.encoding = encoding
        self.late = late
        self.manner = Manner.RIGHT
        self.save_manner = Manner.RIGHT
        self.formatter: Callable[[str], str] = str
        self.asked: list[tuple[str, Json]] = []
        self._buffers: dict[str, Buffer] = {}

    def __getitem__(self, path: Path) -> Buffer:
        return self._buffers[path.as_uri()]

    def open(self, path: Path, text: str | None = None) -> Json:
        """Parameters of a didOpen; `text` when the buffer holds another one than the file."""
        held = path.read_bytes().decode() if text is None else text
        buffer = self._buffers[path.as_uri()] = Buffer(path.as_uri(), path, held)
        document = {"uri": buffer.uri, "languageId": "text", "version": buffer.version, "text": held}
        return {"textDocument": document}

    def type(self, path: Path, text: str, at: int | None = None, *, over: int = 0) -> Json:
        """Parameters of the didChange of typing at a place of the text, by default at its end, over what is there."""
        buffer = self[path]
        place = len(buffer.text) if at is None else at
        return self._change(buffer, place, min(place + over, len(buffer.text)), text=text)

    def save(self, path: Path) -> Json:
        """The person saves: the file is written; parameters of the didSave."""
        buffer = self[path]
        path.write_bytes(buffer.text.encode())
        buffer.modified = False
        return {"textDocument": {"uri": buffer.uri}, "text": buffer.text}

    def close(self, path: Path) -> Json:
        del self._buffers[path.as_uri()]
        return {"textDocument": {"uri": path.as_uri()}}

    def answer(self, method: str, params: Json) -> Answer:
        self.asked.append((method, params))
        match method:
            case "workspace/applyEdit":
                return self._apply(params["edit"]["documentChanges"][0])
            case "agent/document/save":
                return self._saved(self._buffers[params["uri"]])
        return no_such_method(method, params)

    def _apply(self, change: Json) -> Answer:
        buffer = self._buffers[change["textDocument"]["uri"]]
        done: list[tuple[str, Json]] = []
        match self.manner:
            case Manner.SILENT:
                return Answer(None)
            case Manner.LEAVES:
                return Answer(None, leaves=True)
            case Manner.ERROR:
                return Answer({"error": {"code": -32603, "message": "The buffer is read-only."}})
            case Manner.REFUSES:
                return Answer({"result": {"applied": False, "failureReason": "not now"}})
            case Manner.NULL:
                return Answer({"result": None})
            case Manner.STALE:
                done.append(self._typed(buffer, 0))
        fits = change["textDocument"]["version"] in {None, buffer.version}
        if fits and self.manner is not Manner.LIES:
            done.append(("textDocument/didChange", self._edited(buffer, change["edits"])))
        answer = Answer({"result": {"applied": True}})
        (answer.after if self.late else answer.before).extend(done)
        return answer

    def _edited(self, buffer: Buffer, edits: Sequence[Json]) -> Json:
        """All at once: one undo step, one didChange. Typing at the same moment comes in the same didChange."""
        buffer.edits.append(edits)
        places = [(*self._span(buffer.text, edit["range"]), edit["newText"]) for edit in edits]
        for begin, end, text in sorted(places, reverse=True):
            buffer.text = buffer.text[:begin] + text + buffer.text[end:]
        if self.manner is Manner.TYPES_ELSEWHERE:
            buffer.text += "typed\n"
        if self.manner is Manner.TYPES_THERE:
            buffer.text = buffer.text.replace(places[0][2], f"typed{places[0][2]}typed")
        buffer.version += 1
        buffer.modified = True
        document = {"uri": buffer.uri, "version": buffer.version}
        return {"textDocument": document, "contentChanges": [{"text": buffer.text}]}

    def _typed(self, buffer: Buffer, at: int) -> tuple[str, Json]:
        return "textDocument/didChange", self._change(buffer, at, at, text="typed ")

    def _saved(self, buffer: Buffer) -> Answer:
        match self.save_manner:
            case Manner.SILENT:
                return Answer(None)
            case Manner.ERROR:
                return Answer({"error": {"code": -32603, "message": "The disk is full."}})
            case Manner.LIES:
                return Answer({"result": {"saved": True}})
        changes: list[tuple[str, Json]] = []
        formatted = self.formatter(buffer.text)
        if self.save_manner is Manner.REFUSES:
            return Answer({"result": {"saved": False}})
        if formatted != buffer.text:
            changes.append(("textDocument/didChange", self._change(buffer, 0, len(buffer.text), text=formatted)))
        return Answer({"result": {"saved": True}}, [*changes, ("textDocument/didSave", self.save(buffer.path))])

    def _change(self, buffer: Buffer, begin: int, end: int, *, text: str) -> Json:
        span = {"start": self._position(buffer.text, begin), "end": self._position(buffer.text, end)}
        buffer.text = buffer.text[:begin] + text + buffer.text[end:]
        buffer.version += 1
        buffer.modified = True
        document = {"uri": buffer.uri, "version": buffer.version}
        return {"textDocument": document, "contentChanges": [{"range": span, "text": text}]}

    def _position(self, text: str, place: int) -> Json:
        before = text[:place].replace("\r\n", "\n").replace("\r", "\n")
        return {"line": before.count("\n"), "character": self._units(before.rpartition("\n")[2])}

    def _span(self, text: str, span: Json) -> tuple[int, int]:
        return self._place(text, span["start"]), self._place(text, span["end"])

    def _place(self, text: str, position: Json) -> int:
        place = 0
        for _ in range(position["line"]):
            ends = [found for end in "\r\n" if (found := text.find(end, place)) != -1]
            assert ends, "an edit beyond the last line"
            place = min(ends) + (2 if text[min(ends) : min(ends) + 2] == "\r\n" else 1)
        column = 0
        while column < position["character"]:
            column += self._units(text[place])
            place += 1
        assert column == position["character"], "an edit inside a character"
        return place

    def _units(self, text: str) -> int:
        codec, size = _SIZES[self.encoding]
        return len(text.encode(codec)) // size
