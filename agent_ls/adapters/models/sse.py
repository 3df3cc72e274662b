"""Server-sent events out of bytes, however the bytes were cut.

Owns line ends (LF, CR, CRLF and nothing else), the BOM, comments and multi-line data. Does no I/O and knows nothing of
what the data means. An event counts once its blank line has come: what is left at the end of the stream was cut off.
"""

from typing import Final, NamedTuple

BOM: Final = b"\xef\xbb\xbf"
LARGEST_EVENT: Final = 16 * 1024 * 1024


class Event(NamedTuple):
    """`name` is the `event` field, "message" where there is none; `data` is never blank."""

    name: str
    data: str


class SseDecoder:
    """Feed it chunks of any size. Bytes are split before they are decoded, so a cut inside a character does no harm."""

    def __init__(self, *, largest: int = LARGEST_EVENT) -> None:
        self._largest = largest
        self._line: list[bytes] = []  # pieces of the line that has no end yet, joined once
        self._data: list[bytes] = []
        self._name = b""
        self._held = 0
        self._started = False
        self._after_cr = False
        self.too_large = False

    @property
    def cut(self) -> bool:
        """Whether an event has begun that is not complete."""
        return bool(self._data) or any(self._line)

    def feed(self, chunk: bytes) -> list[Event]:
        if not self._started:
            chunk = self._without_bom(chunk)
        if not chunk or self.too_large:
            return []
        if self._after_cr or b"\r" in chunk:
            chunk = self._with_lf_only(chunk)
        if b"\n" not in chunk:
            self._line.append(chunk)
            self._hold(len(chunk))
            return []
        if self._line:
            self._line.append(chunk)
            chunk = b"".join(self._line)
            self._line.clear()
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if rest:
            self._line.append(rest)
        events = self._events(lines)
        self._held = 0
        self._hold(len(rest) + sum(map(len, self._data)))
        return events

    def _events(self, lines: list[bytes]) -> list[Event]:
        events: list[Event] = []
        data = self._data
        for line in lines:
            if line.startswith(b"data:"):
                data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif not line:
                if data:
                    text = (data[0] if len(data) == 1 else b"\n".join(data)).decode("utf-8", "replace")
                    if text.strip():
                        events.append(Event(self._name.decode("utf-8", "replace") or "message", text))
                    data.clear()
                self._name = b""
            elif line.startswith(b"event:"):
                self._name = line[6:].strip(b" ")
            elif line == b"data":
                data.append(b"")
        return events

    def _without_bom(self, chunk: bytes) -> bytes:
        chunk = b"".join(self._line) + chunk
        self._line.clear()
        if len(chunk) < len(BOM) and BOM.startswith(chunk):
            self._line.append(chunk)
            return b""
        self._started = True
        return chunk.removeprefix(BOM)

    def _with_lf_only(self, chunk: bytes) -> bytes:
        # A CR ends its line at once; an LF that follows it in the next chunk belongs to it.
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._after_cr = False
            if not chunk:
                return b""
        self._after_cr = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _hold(self, size: int) -> None:
        self._held += size
        self.too_large = self._held > self._largest
