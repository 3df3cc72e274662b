"""Output of a command, as it can be kept and shown: bounded, without terminal codes, always valid text.

Owns cleaning and what stays when there is too much. Feeding costs the same for each byte, however much came before.
Does not own where the bytes come from, nor the raw copy.
"""

import re
from typing import Final

HEAD: Final = 16 * 1024
TAIL: Final = 16 * 1024

# A line or an escape sequence without an end is let go at this length.
_LONGEST_HELD: Final = 16 * 1024
_LONGEST_ESCAPE: Final = 4096
_WORTH_SHOWING: Final = 1024
_SCREEN: Final = 4096

# A code that is broken off by a byte that cannot be part of it goes as well: none is left but at the very end.
_ESCAPE: Final = re.compile(
    rb"""\x1b(?:
        \[ [0-?]*+ [\x20-/]*+ (?: [@-~] | (?=[^@-~]) )
      | \] [^\x07\x1b]*+ (?: \x07 | \x1b\\ | (?=\x1b[^\\]) )
      | [PX^_] [^\x1b]*+ (?: \x1b\\ | (?=\x1b[^\\]) )
      | [\x20-/]++ (?: [0-~] | (?=[^\x20-~]) )
      | [0-OQ-WYZ\\`-~]
      | (?=[^\x20-~])
    )""",
    re.VERBOSE,
)
_OPEN_ESCAPE: Final = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[PX^_][^\x1b]*\x1b?|[ -/]*)?\Z")
# Only from where a line or a part of it begins: from anywhere, a long line would be read once for each of its bytes.
_OVERWRITTEN: Final = re.compile(rb"(?<![^\r\n])[^\r\n]++\r++(?=[^\r\n])")
_UNPRINTED: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Folder:
    """Takes terminal codes out and folds lines that were overwritten after a CR. Holds the last, unfinished line."""

    def __init__(self) -> None:
        self._escape = b""
        self._line = b""

    def feed(self, data: bytes) -> bytes:
        """What is final by now: whole lines, and lines that are too long to be held."""
        data = self._line + self._plain(data)
        end = data.rfind(b"\n") + 1
        rest, data = data[end:], data[:end]
        # Folded at once, so that a bar of ten thousand steps costs no more than its last one.
        self._line = _OVERWRITTEN.sub(b"", rest) if b"\r" in rest else rest
        if len(self._line) > _LONGEST_HELD:
            data, self._line = data + self._line, b""
        return _folded(data)

    def unfinished(self) -> bytes:
        """The last line as far as it has come."""
        return _folded(self._line)

    def finish(self) -> bytes:
        line, self._line, self._escape = self.unfinished(), b"", b""
        return line

    def _plain(self, data: bytes) -> bytes:
        if self._escape:
            data, self._escape = self._escape + data, b""
        if b"\x1b" not in data:
            return data
        data = _ESCAPE.sub(b"", data)
        if start := _OPEN_ESCAPE.search(data, max(0, len(data) - _LONGEST_ESCAPE)):
            self._escape, data = data[start.start() :], data[: start.start()]
        return data


class Ring:
    """The first and the last bytes of a stream, and how many there were."""

    def __init__(self, head: int = HEAD, tail: int = TAIL) -> None:
        self._limits = (head, tail)
        self._head = bytearray()
        self._tail = bytearray()
        self.size = 0

    @property
    def cut(self) -> int:
        """Bytes left out in the middle."""
        return max(0, self.size - sum(self._limits))

    def feed(self, data: bytes) -> None:
        head, tail = self._limits
        self.size += len(data)
        room = head - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data[-tail:]
        # Cut only now and then: once for each time it has doubled.
        if len(self._tail) > 2 * tail:
            del self._tail[:-tail]

    def text(self) -> str:
        """All of it, or both ends with the cut stated between them; cut between characters."""
        if not self.cut:
            return text_of(bytes(self._head + self._tail))
        head = _whole_end(bytes(self._head))
        tail = _whole_start(bytes(self._tail[-self._limits[1] :]))
        left = self.size - len(head) - len(tail)
        return f"{text_of(head)}\n[… {left:,} bytes left out …]\n{text_of(tail)}"

    def end(self) -> str:
        """The last of it, as much as a screen shows."""
        last = bytes((self._tail or self._head)[-_SCREEN:])
        return text_of(_whole_start(last))


class Live:
    """Text to show while a command runs: no faster than a person or a window can take it."""

    def __init__(self, *, burst: int, per_second: int) -> None:
        self._allowed = float(burst)
        self._burst = burst
        self._rate = per_second
        self._at: float | None = None
        self._skipped = 0
        self._shown = b""
        self._rest = b""

    def feed(self, final: bytes, unfinished: bytes, at: float) -> str:
        """`final` from a Folder, and its unfinished line: shown at once as long as nothing can overwrite it."""
        if self._shown:
            # What was shown of the line stays shown: go on behind it, or on a new line if it was overwritten.
            whole = final or unfinished
            if whole.startswith(self._shown):
                final, unfinished = (final[len(self._shown) :], unfinished) if final else (b"", unfinished)
            elif final:
                final = b"\n" + final
            if final:
                self._shown = b""
        more = b""
        if unfinished.startswith(self._shown):
            more, self._shown = unfinished[len(self._shown) :], unfinished
        return self._limited(final + more, at)

    def finish(self, final: bytes, last: str) -> str:
        """What is still to be shown at the end; `last` is the end of the output, for when much was skipped."""
        if not self._skipped:
            return self.feed(final, b"", self._at or 0.0)
        return f"\n[… {self._skipped:,} bytes not shown here, the last of them below …]\n{last}"

    def _limited(self, data: bytes, at: float) -> str:
        if self._at is not None:
            self._allowed = min(self._burst, self._allowed + (at - self._at) * self._rate)
        self._at = at
        data = self._rest + data
        if not data:
            return ""
        if len(data) > self._allowed:
            kept = int(self._allowed) if self._allowed >= _WORTH_SHOWING and not self._skipped else 0
            self._skipped += len(data) - kept
            self._allowed -= kept
            self._rest = b""
            return text_of(_whole_end(data[:kept]))
        self._allowed -= len(data)
        whole = _whole_end(data)
        self._rest = data[len(whole) :]
        note = f"\n[… {self._skipped:,} bytes not shown here …]\n" if self._skipped else ""
        self._skipped = 0
        return note + text_of(whole)


def text_of(data: bytes) -> str:
    """Valid text without control characters: what cannot be read becomes U+FFFD, what was taken back is gone."""
    text = data.decode("utf-8", "replace")
    if "\x08" in text:
        text = _taken_back(text)
    return _UNPRINTED.sub("\ufffd", text)


def _taken_back(text: str) -> str:
    kept: list[str] = []
    for char in text:
        if char != "\x08":
            kept.append(char)
        elif kept and kept[-1] != "\n":
            kept.pop()
    return "".join(kept)


def _folded(data: bytes) -> bytes:
    if b"\r" not in data:
        return data
    return _OVERWRITTEN.sub(b"", data).replace(b"\r", b"")


def _whole_end(data: bytes) -> bytes:
    """Without the beginning of a character whose end is missing."""
    for back in range(1, min(4, len(data) + 1)):
        byte = data[-back]
        if byte < 0x80:
            return data
        if byte >= 0xC0:
            needs = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if back < needs and byte < 0xF8 else data
    return data


def _whole_start(data: bytes) -> bytes:
    start = 0
    while start < min(3, len(data)) and 0x80 <= data[start] < 0xC0:
        start += 1
    return data[start:]
