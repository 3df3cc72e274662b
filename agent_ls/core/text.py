"""A text as a window holds it, changed piece by piece, with positions in the units that were agreed on.

Owns lines, positions and the content changes of LSP in utf-8, utf-16 and utf-32. Does not own whose text it is nor
its bytes on disk. Lines end at `\\n`, `\\r\\n` and `\\r` alone, never at form feed, NEL or U+2028.

The bridge shares this module, and there every import costs start-up: no dataclasses, no enum.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

UTF_8, UTF_16, UTF_32 = "utf-8", "utf-16", "utf-32"
ENCODINGS = (UTF_8, UTF_16, UTF_32)

_ENDS = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")
_SURROGATE = re.compile("[\ud800-\udfff]")


class BadChange(ValueError):
    """A content change that has not the shape of one."""


class Text:
    """A mirror of a window's text. A change costs what it touches: its lines, not the file."""

    __slots__ = ("_lines", "encoding")

    def __init__(self, text: str, encoding: str = UTF_16) -> None:
        self.encoding = encoding
        self._lines = split(_joined(text))

    def __str__(self) -> str:
        return "".join(self._lines)

    @property
    def lines(self) -> Sequence[str]:
        """With their ends; the last one has none, and is empty when the text ends with one."""
        return self._lines

    def copy(self) -> Text:
        """As it is now, whatever is typed meanwhile."""
        found = Text("", self.encoding)
        found._lines = list(self._lines)
        return found

    def change(self, changes: Any) -> None:
        """Makes the `contentChanges` of a didChange, in order. BadChange: one is malformed, and none was made."""
        if not isinstance(changes, list):
            raise BadChange("contentChanges is not a list")
        for span, text in [_read(change) for change in changes]:
            if span is None:
                self._lines = split(_joined(text))
            else:
                self._splice(*span, text)

    def position(self, line: int, offset: int) -> dict[str, int]:
        """`offset` code points into a line, in units of the encoding."""
        return {"line": line, "character": units(self._lines[line][:offset], self.encoding)}

    def end(self) -> dict[str, int]:
        return self.position(len(self._lines) - 1, len(self._lines[-1]))

    def place(self, line: int, character: int) -> tuple[int, int]:
        """(line, code points into it); beyond the end of a line is its end, beyond the last line the end of all."""
        if line >= len(self._lines):
            return len(self._lines) - 1, len(self._lines[-1])
        return (line, offset(self._lines[line], character, self.encoding)) if line >= 0 else (0, 0)

    def _splice(self, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        first, last = sorted((self.place(*start), self.place(*end)))
        begin, stop = first[0], last[0] + 1
        piece = self._lines[begin][: first[1]] + text + self._lines[last[0]][last[1] :]
        if begin and piece[:1] == "\n" and self._lines[begin - 1][-1:] == "\r":
            begin -= 1  # a `\r` that stood alone has become half of a `\r\n`
            piece = self._lines[begin] + piece
        lines = split(_joined(piece))
        if stop < len(self._lines):
            lines.pop()  # the piece ends as its last line did, and what follows stands there already
        self._lines[begin:stop] = lines


def split(text: str) -> list[str]:
    """Lines with their ends; at least one, the last without an end."""
    if "\r" not in text or text.count("\r") == text.count("\r\n"):
        pieces = text.split("\n")
        last = pieces.pop()
        return [piece + "\n" for piece in pieces] + [last]
    return _ENDS.split(text)


def body(line: str) -> int:
    """How many code points of a line come before its end."""
    if line.endswith("\r\n"):
        return len(line) - 2
    return len(line) - 1 if line.endswith(("\n", "\r")) else len(line)


def units(text: str, encoding: str) -> int:
    """The length of a text in units of the encoding."""
    if encoding == UTF_32 or text.isascii():
        return len(text)
    if encoding == UTF_8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def offset(line: str, character: int, encoding: str) -> int:
    """Code points before a column. One inside a character is taken for its start, one past the end for the end."""
    length = body(line)
    if character <= 0:
        return 0
    if encoding == UTF_32 or line.isascii():
        return min(character, length)
    if encoding == UTF_8:
        data = line[:length].encode("utf-8", "surrogatepass")
        stop = min(character, len(data))
        while stop < len(data) and data[stop] & 0xC0 == 0x80:
            stop -= 1
        return len(data[:stop].decode("utf-8", "surrogatepass"))
    data = line[:length].encode("utf-16-le", "surrogatepass")
    if len(data) == 2 * length:
        return min(character, length)
    stop = min(2 * character, len(data))
    if stop < len(data) and data[stop + 1] & 0xFC == 0xDC and data[stop - 1] & 0xFC == 0xD8:
        stop -= 2
    return len(data[:stop].decode("utf-16-le", "surrogatepass"))


def _joined(text: str) -> str:
    """Halves of a pair that came in two changes make the character that they are."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _read(change: Any) -> tuple[tuple[tuple[int, int], tuple[int, int]] | None, str]:
    if not isinstance(change, dict) or not isinstance(change.get("text"), str):
        raise BadChange("a content change has no text")
    span = change.get("range")
    if span is None:
        return None, change["text"]
    if not isinstance(span, dict):
        raise BadChange("a range is not an object")
    return (_position(span.get("start")), _position(span.get("end"))), change["text"]


def _position(position: Any) -> tuple[int, int]:
    if not isinstance(position, dict):
        raise BadChange("a position is not an object")
    line, character = position.get("line"), position.get("character")
    if not isinstance(line, int) or not isinstance(character, int):
        raise BadChange("a position has no line or no character")
    return line, character
