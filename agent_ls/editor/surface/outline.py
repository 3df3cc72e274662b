"""What an editor shows of a Markdown document by itself: its outline, what folds, where its links lead.

Owns reading headings, calls and links back from lines. Pure, in lines and code points; whoever answers a client counts
in its units. What stands in a fenced block is no heading and no link. A long document is read in steps, between which
others get their turn.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from agent_ls.core.fences import fenced
from agent_ls.core.mentions import MENTION
from agent_ls.wire.transcript import CALL

_HEADING: Final = re.compile(r"(#{1,6}) +(\S.*)")
_LINK: Final = re.compile(r"\[[^\]]*\]\(<?(file://[^)>]+)>?\)")
NAME_LIMIT: Final = 120
STEP: Final = 300
"""Lines; a millisecond's work."""


@dataclass(slots=True)
class Part:
    """A heading or a call with all that belongs to it: lines from `first` to `last`, that one included."""

    name: str
    level: int
    first: int
    last: int
    parts: list["Part"] = field(default_factory=list)

    @property
    def is_call(self) -> bool:
        return self.level == CALL_LEVEL


CALL_LEVEL: Final = 7
"""Deeper than any heading."""


@dataclass(frozen=True, slots=True)
class Link:
    line: int
    start: int
    end: int
    target: str


def outline(lines: Sequence[str], *, runs: bool) -> list[Part]:
    """`runs`: of a transcript, where only the title, runs and calls are headings; else every heading is one."""
    top: list[Part] = []
    deque(outlining(lines, top, runs=runs), maxlen=0)
    return top


def outlining(lines: Sequence[str], top: list[Part], *, runs: bool) -> Iterator[None]:
    """Fills `top`, step by step."""
    above: list[Part] = []
    for number, line, inside in _read(lines):
        if number % STEP == STEP - 1:
            yield
        found = None if inside else _part(line, number, runs=runs)
        if found is not None:
            while above and above[-1].level >= found.level:
                above.pop()
            (above[-1].parts if above else top).append(found)
            above.append(found)
        elif above and above[-1].is_call and not inside and line.strip():
            above.pop()  # a call ends where its blocks do
        if line.strip() or inside:
            for part in above:
                part.last = number


def folds(parts: Sequence[Part]) -> Iterator[tuple[int, int]]:
    for part in parts:
        if part.last > part.first:
            yield part.first, part.last
        yield from folds(part.parts)


def links(lines: Sequence[str]) -> list[Link]:
    found: list[Link] = []
    deque(linking(lines, found), maxlen=0)
    return found


def linking(lines: Sequence[str], found: list[Link]) -> Iterator[None]:
    """Fills `found`, step by step."""
    for number, line, inside in _read(lines):
        if number % STEP == STEP - 1:
            yield
        if not inside:
            found += [Link(number, each.start(), each.end(), each[1]) for each in _LINK.finditer(line)]


def mentioned(lines: Sequence[str]) -> list[tuple[int, re.Match[str]]]:
    """`@path` and `@path:3-9`, as a prompt names files."""
    return [(number, found) for number, line, inside in _read(lines) if not inside for found in MENTION.finditer(line)]


def _part(line: str, number: int, *, runs: bool) -> Part | None:
    if line.startswith(CALL):
        return Part(_plain(line.removeprefix(CALL)), CALL_LEVEL, number, number)
    heading = _HEADING.match(line)
    if heading is None or (runs and number and not line.startswith("## Run ")):
        return None
    return Part(_plain(heading[2]), len(heading[1]), number, number)


def _read(lines: Sequence[str]) -> Iterator[tuple[int, str, bool]]:
    for number, (line, mark) in enumerate(fenced(lines)):
        yield number, line, bool(mark)


def _plain(text: str) -> str:
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("**", "").replace("`", "")
    return text[:NAME_LIMIT].strip() or "…"
