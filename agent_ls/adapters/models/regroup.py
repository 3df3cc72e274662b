"""Chunks of an HTTP/1.1 answer that have come together, made one chunk.

A server sends each token as a chunk of its own, and whoever takes an answer apart pays for each. What has come in one
read is handed on as one chunk, with nothing kept back that could be read. Owns the border of head and chunks, as far
as that takes. Sans I/O. Anything out of the ordinary goes on byte for byte as it came: what an answer is and what is
wrong with it is for the library to say.
"""

import re
from collections.abc import Callable
from typing import Final

LONGEST_HEAD: Final = 64 * 1024
LONGEST_SIZE: Final = 16
_END: Final = b"\r\n\r\n"
_FIRST_LINE: Final = re.compile(rb"HTTP/1\.1 ([0-9]{3})[ \r]")
_FRAMING: Final = re.compile(rb"\r\ntransfer-encoding:", re.IGNORECASE)
_CHUNKED: Final = re.compile(rb"\r\ntransfer-encoding:[ \t]*chunked[ \t]*\r\n", re.IGNORECASE)
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,%d})\r\n" % LONGEST_SIZE)


class Regrouping:
    """To be fed all that comes on one connection, and told of each request that goes out on it."""

    def __init__(self) -> None:
        self._take: Callable[[bytes], bytes] = _as_it_is
        self._head = b""
        self._left = 0
        self._cut = b""

    def asked(self, request: bytes) -> None:
        """A request goes out: what comes next is the head of its answer."""
        bodiless = request.startswith((b"CONNECT ", b"HEAD "))
        self._take = _as_it_is if bodiless else self._of_head
        self._head = self._cut = b""

    def feed(self, data: bytes) -> bytes:
        """The same bytes but for the borders of chunks. Empty where only a piece of such a border has come."""
        return self._take(data)

    def _of_head(self, data: bytes) -> bytes:
        known = len(self._head)
        self._head += data
        end = self._head.find(_END)
        if end < 0:
            if len(self._head) > LONGEST_HEAD:
                self._take = _as_it_is
            return data
        end += len(_END)
        head, rest = self._head[:end], self._head[end:]
        self._head = b""
        status = _status(head)
        if 100 < status < 200:  # an interim answer; that of the request comes after it
            return head[known:] + self._of_head(rest)
        self._take = self._of_body if status == 200 and _is_chunked(head) else _as_it_is
        return head[known:] + self._take(rest)

    def _of_body(self, data: bytes) -> bytes:
        data, self._cut = self._cut + data, b""
        found: list[bytes] = []
        at, end = 0, len(data)
        while True:
            if self._left:
                # With the line end that closes the chunk: both are there, or the chunk is not whole.
                piece = data[at : at + self._left]
                at += len(piece)
                self._left -= len(piece)
                found.append(piece)
                if self._left:
                    return _one(found)
                if data[at : at + 2] != b"\r\n":
                    return self._unfinished(found, data[at:])
                at += 2
            size = _SIZE.match(data, at)
            self._left = int(size[1], 16) if size else 0
            if size is None or not self._left:
                break
            at = size.end()
        if size is None and end - at < LONGEST_SIZE + 2 and b"\n" not in data[at:]:
            self._cut = data[at:]
            return _one(found)
        self._take = _as_it_is
        return _one(found) + data[at:]

    def _unfinished(self, found: list[bytes], rest: bytes) -> bytes:
        """The text of a chunk is whole, its line end is not there yet, or is none."""
        if rest in {b"", b"\r"}:
            self._take = self._of_line_end
            self._cut = rest
            return _one(found)
        self._take = _as_it_is
        return _one(found).removesuffix(b"\r\n") + rest

    def _of_line_end(self, data: bytes) -> bytes:
        data, self._cut = self._cut + data, b""
        if data == b"\r":
            self._cut = data
            return b""
        if data.startswith(b"\r\n"):
            self._take = self._of_body
            return self._of_body(data[2:])
        self._take = _as_it_is
        # The chunk was handed on as a whole one. What is no size of a next one is refused as such.
        return b"no line end\r\n" + data


def _as_it_is(data: bytes) -> bytes:
    return data


def _one(found: list[bytes]) -> bytes:
    text = b"".join(found)
    # A chunk of nothing would be the end of the body.
    return b"%x\r\n%s\r\n" % (len(text), text) if text else b""


def _status(head: bytes) -> int:
    """0 for a head that is not spelled as everybody spells it."""
    first = _FIRST_LINE.match(head)
    return int(first[1]) if first and b"\n" not in head.replace(b"\r\n", b"") else 0


def _is_chunked(head: bytes) -> bool:
    return len(_FRAMING.findall(head)) == 1 and _CHUNKED.search(head) is not None
