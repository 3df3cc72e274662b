"""Lines that fit a regular expression, in the worker process: by ripgrep where there is one, else by Python.

Owns that both find the same in the same order: one line at a time, no binary files, file after file. Which files are
looked into is search_walk's; how much is kept is the worker's.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from agent_ls.adapters.tools.search_list import ended, started
from agent_ls.adapters.tools.search_walk import read_regular

LARGEST_FILE: Final = 10 * 1024 * 1024
LONGEST_LINE: Final = 300
_BEFORE: Final = 80
_BATCH: Final = 400
# Of the bytes that a call may have: what each argument costs beside its text, and all of them (a system takes 2 MiB).
_ARGUMENT: Final = 16
_LONGEST_CALL: Final = 512 * 1024

# What can match a line break, or looks beyond it. All else that fits a line is found in the whole text as well.
_BEYOND_A_LINE: Final = re.compile(r"\\[AZsWDnx0-7]|\[\^|\(\?(?!:|i\))|[+*?}]\+")

Line = tuple[int, str, bool]
"""Number from 1, text, whether it fits (else it is context)."""


class BadPattern(Exception):
    """Not a regular expression; the message says why."""


class Wanted(NamedTuple):
    """`context` lines around each that fits, of which at most `most` are told per file."""

    pattern: str
    context: int
    most: int


def by_python(root: str, files: Iterable[str], wanted: Wanted) -> Iterator[tuple[str, list[Line]]]:
    """Per file that has any, its lines."""
    try:
        regex = re.compile(wanted.pattern, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern(str(error)) from error
    whole_first = not _BEYOND_A_LINE.search(wanted.pattern)
    for path in files:
        text = _text(read_regular(os.path.join(root, path) if path else root, LARGEST_FILE))
        if text is None or (whole_first and not regex.search(text)):
            continue
        if found := _lines(regex, text, wanted):
            yield path, found


def _text(data: bytes | None) -> str | None:
    if data is None:
        return None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").replace("\r\n", "\n")
    return None if b"\0" in data else data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")


def _lines(regex: re.Pattern[str], text: str, wanted: Wanted) -> list[Line]:
    lines = text.removesuffix("\n").split("\n")
    fits: dict[int, int] = {}
    for place, line in enumerate(lines):
        if (match := regex.search(line)) is not None:
            fits[place] = match.start()
            if len(fits) >= wanted.most:
                break
    around = range(-wanted.context, wanted.context + 1)
    near = {place + step for place in fits for step in around if 0 <= place + step < len(lines)}
    return [(n + 1, shorten(lines[n], fits.get(n, 0)), n in fits) for n in sorted(near)]


def shorten(line: str, start: int) -> str:
    """A long line around what fits."""
    if len(line) <= LONGEST_LINE:
        return line
    begin = max(0, min(start - _BEFORE, len(line) - LONGEST_LINE))
    end = begin + LONGEST_LINE
    return ("…" if begin else "") + line[begin:end] + (f"… ({len(line):,} characters)" if end < len(line) else "")


def by_ripgrep(program: str, root: str, files: Iterable[str], *, wanted: Wanted) -> Iterator[tuple[str, list[Line]]]:
    """Named one by one: nothing is searched that was not given. A few first, since they often are enough; then more and
    more, since each start costs as much as a hundred files."""
    batch: list[str] = []
    most, size = _BATCH, 0
    for path in files:
        batch.append(path)
        size += len(path) + _ARGUMENT
        if len(batch) >= most or size > _LONGEST_CALL:
            yield from _batch(program, root, batch, wanted=wanted)
            batch, size = [], 0
            most *= 4
    if batch:
        yield from _batch(program, root, batch, wanted=wanted)


class Tree:
    """All that ripgrep searches beneath a folder, by itself: begun at once, while others still look at the names."""

    def __init__(self, program: str, root: str, told: list[str], *, wanted: Wanted) -> None:
        argv = [program, *told, *_asked(wanted), f"--max-filesize={LARGEST_FILE}", "--sort=path", "--", "./"]
        self._running = started(argv, root)
        self.looked_into = 0
        """Files, once all is told."""

    def lines(self) -> Iterator[tuple[str, list[Line]]]:
        """File after file, folder by folder, each sorted by name."""
        running, found, begun = self._running, dict[str, list[Line]](), False
        assert running.stdout is not None
        for text in running.stdout:
            message = json.loads(text)
            if message["type"] == "summary":
                self.looked_into = message["data"]["stats"]["searches"]
            _take(message, found)
            if message["type"] == "end" and found:
                path, lines = found.popitem()
                begun = True
                yield path.removeprefix("./"), lines
        if running.wait() > 1 and not begun:
            raise BadPattern("ripgrep does not take it")

    def close(self) -> None:
        ended(self._running)


def _asked(wanted: Wanted) -> list[str]:
    return ["--json", "--crlf", f"--max-count={wanted.most}", f"--context={wanted.context}", "-e", wanted.pattern]


def _batch(program: str, root: str, files: list[str], *, wanted: Wanted) -> Iterator[tuple[str, list[Line]]]:
    folder, named = (root, files) if files != [""] else os.path.split(root)
    argv = [
        program, "--no-config", "--no-messages", "--no-ignore", "--hidden", "--no-follow", "--threads=2",
        *_asked(wanted), "--", *([named] if isinstance(named, str) else named),
    ]  # fmt: skip
    found: dict[str, list[Line]] = {}
    running = started(argv, folder)
    try:
        assert running.stdout is not None
        for line in running.stdout:
            _take(json.loads(line), found)
        if running.wait() > 1 and not found:
            raise BadPattern("ripgrep does not take it")
    finally:
        ended(running)
    for path in files:
        if lines := found.get(path or str(named)):
            yield path, lines


def _take(message: dict[str, Any], found: dict[str, list[Line]]) -> None:
    kind, data = message["type"], message["data"]
    if kind not in {"match", "context", "end"}:
        return
    path = os.fsdecode(_bytes(data["path"]))
    if kind == "end":
        # What was found before the first NUL of a binary file is no text.
        if data.get("binary_offset") is not None:
            found.pop(path, None)
        return
    raw = _bytes(data["lines"])
    start = data["submatches"][0]["start"] if data["submatches"] else 0
    line = raw.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r").removeprefix("\ufeff")
    before = len(raw[:start].decode("utf-8", "replace")) if len(line) > LONGEST_LINE else 0
    found.setdefault(path, []).append((int(data["line_number"]), shorten(line, before), kind == "match"))


def _bytes(data: dict[str, str]) -> bytes:
    if "text" in data:
        return data["text"].encode()
    from base64 import b64decode

    return b64decode(data["bytes"])
