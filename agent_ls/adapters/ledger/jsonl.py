"""An exported conversation as a file of JSON lines, read as it may come back: cut, joined, with holes and noise in it.

Owns where a record begins and ends and what can be understood of it. Whatever it passes over is a Gap with its line.
Does not own what becomes of the records (core.imported).

A kill or a full disk in mid-write leaves the beginning of a record, and the next one follows on the same line; a
careless tool writes a raw newline inside a text. So a record is looked for wherever one may begin, and may go on over
the end of its line.
"""

import base64
import binascii
import errno
import json
import mmap
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

from agent_ls.adapters.ledger import codec
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import ENTITIES, EventKind
from agent_ls.core.imported import LARGEST, Blob, Found, Gap, Record, Strange
from agent_ls.wire import blobs

BLOB_KIND: Final = "blob"
_BEGINS: Final = re.compile(rb'\{\s*"(seq|kind|at|fact|entity|digest)"\s*:')
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d[0-9.:+\-Zz]{0,14}")
_WORD: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9_.]{0,63}")
# How far the end of a record is looked for: most are short, an entity is 256 KiB at most, a blob may be an image.
_SHORT: Final = 1 << 14
_LONG: Final = 1 << 22
_LONGEST: Final = 1 << 26
_NOISE: Final = b"\0 \t\r\n\xef\xbb\xbf"
_DECODER: Final = json.JSONDecoder(strict=False)


def open_file(path: str, folder: str) -> "JsonLines | Refusal":
    """`folder` is where a copy may be kept meanwhile. Blocks."""
    try:
        return JsonLines(path, folder)
    except OSError as error:
        message = f"{path} cannot be read ({error.strerror or error})."
        return Refusal(
            Code.INVALID_PARAMS, message, "Name a file that `agent-ls export ID --format jsonl` has written."
        )


class JsonLines:
    """Implements ports.exports.ExportFile. Memory holds one record at a time.

    What is read is a copy without a name: a mapped file that somebody cuts short meanwhile would kill the daemon.
    """

    def __init__(self, path: str, folder: str | None = None) -> None:
        # A pipe without a writer must not keep anybody waiting.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(errno.EINVAL, "it is not a file")
            with tempfile.TemporaryFile(dir=folder) as copy:
                shutil.copyfileobj(file, copy)
                copy.flush()
                empty = copy.tell() == 0
                self._data: mmap.mmap | bytes = b"" if empty else mmap.mmap(copy.fileno(), 0, access=mmap.ACCESS_READ)

    def close(self) -> None:
        if isinstance(self._data, mmap.mmap):
            self._data.close()

    def digest(self) -> str:
        return sha256(self._data).hexdigest()

    def records(self) -> Iterator[Record]:
        data, place, line, end, after = self._data, 0, 1, -1, 0
        while place < len(data):
            found: list[Record] | None = None
            if place > end:
                end = data.find(b"\n", place)
                end = min(len(data) if end < 0 else end, place + _LONGEST)
                found, after = _whole_line(data[place:end], line), end + 1
            if found is None:
                found, after = _torn(data, place, end, line=line)
            yield from found
            line += data[place:after].count(b"\n")
            place = after


def _whole_line(text: bytes, line: int) -> list[Record] | None:
    """None if this is not one record."""
    stripped = text.strip(_NOISE)
    if not stripped:
        return list(_lost(text, line))
    try:
        raw = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    record = _record(raw, line)
    return None if record is None else [*_lost(text[: text.index(stripped[:1])], line), record]


def _torn(data: "mmap.mmap | bytes", place: int, end: int, *, line: int) -> tuple[list[Record], int]:
    """The first record that begins on this line, and what is lost before it; where to go on."""
    for begin in _BEGINS.finditer(data, place, end):
        found = _decoded(data, begin.start(), longest=_LONGEST if begin[1] == b"kind" else _LONG)
        record = None if found is None else _record(found[0], line)
        if found is not None and record is not None:
            return [*_lost(data[place : begin.start()], line), record], found[1]
    return list(_lost(data[place:end], line)), end + 1


def _decoded(data: "mmap.mmap | bytes", begin: int, *, longest: int) -> tuple[Any, int] | None:
    """The object that begins here, wherever its lines end, and its end.

    Latin-1 gives every byte a character of its own, so that places in the text are places in the file.
    """
    for size in (_SHORT, longest):
        try:
            window = data[begin : begin + size].decode("latin-1")
            _, stop = _DECODER.raw_decode(window)
            return _DECODER.decode(data[begin : begin + stop].decode("utf-8", "replace")), begin + stop
        except (ValueError, RecursionError):
            continue
    return None


def _lost(text: bytes, line: int) -> Iterator[Gap]:
    if text.strip(_NOISE):
        yield Gap(line, f"{len(text):,} bytes cannot be read: a record that was cut off, or something else.")
    elif text.strip(b" \t\r\n\xef\xbb\xbf"):
        yield Gap(line, f"{len(text):,} bytes hold nothing.")


def _record(raw: Any, line: int) -> Record | None:
    """None if it has not the form of a record at all."""
    match raw:
        case {"kind": "blob", "digest": str(digest), "data": str(text)}:
            return _blob(digest, text, line)
        case {"seq": int(seq), "kind": str(kind), "entity": dict(entity)} if type(seq) is int and 0 < seq < LARGEST:
            return _event(raw, entity, seq=seq, kind=kind, line=line)
        case _:
            return None


def _blob(digest: str, text: str, line: int) -> Record:
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return Gap(line, "A blob cannot be read.")
    if sha256(content).hexdigest() != digest:
        return Gap(line, "A blob was damaged: it is not what its digest says.")
    return Blob(line, digest, content)


def _event(raw: dict[str, Any], entity: dict[str, Any], *, seq: int, kind: str, line: int) -> Record:
    at = raw.get("at")
    at = at if isinstance(at, str) and _TIME.fullmatch(at) else None
    fact = raw.get("fact")
    last = raw.get("last")
    last = last if type(last) is int and 0 < last < LARGEST else None
    encoded = json.dumps(entity, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    if kind in ENTITIES:
        try:
            decoded = codec.decode(kind, encoded)
        except codec.Unreadable:
            return _strange(entity, seq=seq, at=at, kind=kind, line=line, last=last)
        named = fact if isinstance(fact, str) and _WORD.fullmatch(fact) else "updated"
        return Found(line, seq, at, named, decoded, last, frozenset(blobs.named(encoded)))
    return _strange(entity, seq=seq, at=at, kind=kind, line=line, last=last)


def _strange(entity: dict[str, Any], *, seq: int, at: str | None, kind: str, line: int, last: int | None) -> Record:
    own, conversation_id, run_id = (entity.get(name) for name in ("id", "conversationId", "runId"))
    if kind == EventKind.CONVERSATION:
        conversation_id = own
    if not (isinstance(own, str) and isinstance(conversation_id, str)):
        return Gap(line, f"Event {seq} cannot be understood.")
    run_id = own if kind == EventKind.RUN else run_id
    return Strange(line, seq, at, kind, own, conversation_id, run_id if isinstance(run_id, str) else None, last)
