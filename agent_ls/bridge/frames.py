"""Frames on the wire: header lines, an empty line, a body of as many bytes as the header says.

Owns where one message ends and the next begins. Does not own what is in it (editor/framing, bridge/memory). No I/O.

Taken: header names in any case, no space after the colon, lines ended by LF alone, other headers beside
Content-Length, empty lines before a header. Content-Length counts bytes. A body over the limit is skipped and
reported, so the link lives. Everything else (a line that is no header, no length, two lengths, a header that
does not end) is a lost border: `lost` says why, nothing more is read, and the caller ends the link. It is found at
the first byte that no header can hold, so a peer that speaks another protocol is told at once.
"""

from __future__ import annotations

LONGEST_BODY = 64 * 1024 * 1024
LONGEST_SKIP = 1024 * 1024 * 1024
LONGEST_HEADER = 8192


class TooLong:
    """A body over the limit: it is skipped, and the sender has to be told."""

    __slots__ = ("length",)

    def __init__(self, length: int) -> None:
        self.length = length


class FrameSplitter:
    """Bytes in, bodies out. `lost` is a sentence once the border between frames is lost."""

    def __init__(self, longest: int = LONGEST_BODY) -> None:
        self.lost: str | None = None
        self._longest = longest
        self._buffer = bytearray()
        self._length: int | None = None  # what the header being read says
        self._header = 0  # bytes of the header being read
        self._body: int | None = None  # bytes of the body awaited
        self._skip = 0

    def feed(self, data: bytes) -> list[bytes | TooLong]:
        found: list[bytes | TooLong] = []
        if self.lost is None:
            self._buffer += data
            while self._step(found):
                pass
        return found

    def _step(self, found: list[bytes | TooLong]) -> bool:
        """Whether it is worth looking again at what is left."""
        if self._skip:
            gone = min(self._skip, len(self._buffer))
            del self._buffer[:gone]
            self._skip -= gone
            return self._skip == 0
        if self._body is None:
            return self._header_line(found)
        if len(self._buffer) < self._body:
            return False
        with memoryview(self._buffer) as view:
            found.append(bytes(view[: self._body]))
        del self._buffer[: self._body]
        self._body = None
        return True

    def _header_line(self, found: list[bytes | TooLong]) -> bool:
        end = self._buffer.find(b"\n")
        line = bytes(self._buffer if end < 0 else self._buffer[:end])
        if self._header + len(line) > LONGEST_HEADER:
            return self._lose("the header does not end")
        if end < 0:
            name = line.partition(b":")[0].rstrip(b"\r")
            if name and not _named(name):
                self._lose(_NO_FIELD)
            return False
        del self._buffer[: end + 1]
        line = line.removesuffix(b"\r")
        if line:
            self._header += end + 1
            return self._field(line)
        return self._header == 0 or self._header_ends(found)

    def _field(self, line: bytes) -> bool:
        name, colon, value = line.partition(b":")
        if not colon or not _named(name):
            return self._lose(_NO_FIELD)
        if name.lower() != b"content-length":
            return True
        value = value.strip()
        if not value.isdigit() or len(value) > 18:
            return self._lose("Content-Length is not a number of bytes")
        if self._length not in {None, int(value)}:
            return self._lose("a header holds two different lengths")
        self._length = int(value)
        return True

    def _header_ends(self, found: list[bytes | TooLong]) -> bool:
        length, self._length, self._header = self._length, None, 0
        if length is None:
            return self._lose("a header has no Content-Length")
        if length <= self._longest:
            self._body = length
            return True
        if length > LONGEST_SKIP:
            return self._lose(f"a message of {length} bytes was announced, the limit is {self._longest}")
        self._skip = length
        found.append(TooLong(length))
        return True

    def _lose(self, reason: str) -> bool:
        self.lost = f"The border between two messages is lost: {reason}."
        self._buffer.clear()
        return False


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


_NO_FIELD = "a line where a header should be is not `Name: value`"


def _named(name: bytes) -> bool:
    return name.replace(b"-", b"").replace(b"_", b"").isalnum()
