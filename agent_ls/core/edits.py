"""Edits of a text file: literal, unique, all or nothing.

Owns what an edit may match and what it leaves alone: bytes outside the replaced places never change. Every `old` is
looked for in the file as it is, not in what the edits before it made. A match that holds only loosely (near.py) is
reported and never applied. Does not own the file on disk.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import pairwise

from agent_ls.core.near import explain
from agent_ls.core.textfile import Flat, TextFile, Unencodable, has_surrogates

_LINES_SHOWN = 8
# Aligning lines costs their product; beyond this a changed hunk takes the endings that are usual in the file.
_ALIGNED = 250_000


@dataclass(frozen=True)
class Edit:
    old: str
    new: str
    all: bool = False


class Trouble(StrEnum):
    NOTHING_ASKED = "nothing_asked"
    EMPTY_OLD = "empty_old"
    NO_CHANGE = "no_change"
    NOT_FOUND = "not_found"
    ONLY_NORMALISED = "only_normalised"
    AMBIGUOUS = "ambiguous"
    OVERLAP = "overlap"
    ENCODING = "encoding"


@dataclass(frozen=True)
class Problem:
    """Why nothing was edited. `lines` are the places meant, counted from 1; `edit` is the index of the edit."""

    trouble: Trouble
    message: str
    edit: int = 0
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Span:
    """One replaced place of the flat text."""

    start: int
    end: int
    new: str
    edit: int


@dataclass(frozen=True)
class Applied:
    """`data` is the whole new file, `text` its text with `\\n` endings; `spans` are in order and do not overlap."""

    data: bytes
    text: str
    spans: tuple[Span, ...]


def apply(file: TextFile, edits: Sequence[Edit]) -> Applied | Problem:
    """The file with every edit made, or the first reason why none is."""
    if not edits:
        return Problem(Trouble.NOTHING_ASKED, "edits is empty; give at least one {old, new}")
    spans: list[Span] = []
    for index, edit in enumerate(edits):
        found = _places(file, edit, index)
        if isinstance(found, Problem):
            return _named(found, len(edits))
        spans.extend(found)
    spans.sort(key=lambda span: (span.start, span.end))
    for left, right in pairwise(spans):
        if right.start < left.end:
            return _overlap(file.flat, left, right)
    return _splice(file, spans)


def laid_on(file: TextFile, spans: Sequence[Span]) -> Applied | Problem:
    """The file with spans replaced that are in order and do not overlap."""
    for span in spans:
        unencodable = file.check(span.new, file.flat.text[span.start : span.end])
        if unencodable is not None:
            return Problem(Trouble.ENCODING, unencodable.reason, span.edit)
    applied = _splice(file, spans)
    if applied.text == file.flat.text:
        return Problem(Trouble.NO_CHANGE, "the file holds exactly that already; nothing would change")
    return applied


def own_lines(flat: str, spans: Sequence[Span]) -> list[tuple[str, str]]:
    """What an edit replaces and what by, in whole lines: what it shows, wherever in the file that stands.

    Spans that share a line make one pair. Other bytes of the file may change without changing it.
    """
    groups: list[tuple[int, int, list[Span]]] = []
    for span in spans:
        start, end = _line_range(flat, span)
        if groups and start < groups[-1][1]:
            first, stop, together = groups[-1]
            groups[-1] = first, max(stop, end), [*together, span]
        else:
            groups.append((start, end, [span]))
    return [(flat[start:end], _replaced(flat, start, end, spans=together)) for start, end, together in groups]


def line_of(flat: str, place: int) -> int:
    """The line, counted from 1, on which a place of the flat text is."""
    return flat.count("\n", 0, place) + 1


def _line_range(flat: str, span: Span) -> tuple[int, int]:
    start = flat.rfind("\n", 0, span.start) + 1
    whole = span.new.endswith("\n") or (not span.new and span.start == start)
    if whole and span.end > span.start and flat[span.end - 1] == "\n":
        return start, span.end
    stop = flat.find("\n", span.end)
    return start, len(flat) if stop == -1 else stop + 1


def _replaced(flat: str, start: int, end: int, *, spans: Sequence[Span]) -> str:
    text = ""
    for span in spans:
        text += flat[start : span.start] + span.new
        start = span.end
    return text + flat[start:end]


def _places(file: TextFile, edit: Edit, index: int) -> list[Span] | Problem:
    refused = _refused(file, edit, index)
    if refused is not None:
        return refused
    flat = file.flat
    old, new = flat.flatten(edit.old), flat.flatten(edit.new)
    hits = _hits(flat.text, old, overlapping=not edit.all)
    if not hits:
        near = explain(flat.text, old)
        trouble = Trouble.ONLY_NORMALISED if near.loose else Trouble.NOT_FOUND
        return Problem(trouble, near.message, index, near.lines)
    lines = tuple(line_of(flat.text, hit) for hit in hits[:_LINES_SHOWN])
    if len(hits) > 1 and not edit.all:
        more = "" if len(hits) <= _LINES_SHOWN else " and more"
        at = ", ".join(map(str, lines))
        message = (
            f"old is there {len(hits)} times, on lines {at}{more}; add lines around it until it is unique, "
            "or set all to replace each of them"
        )
        return Problem(Trouble.AMBIGUOUS, message, index, lines)
    if any(file.splits_character(flat.origin(place)) for hit in hits for place in (hit, hit + len(old))):
        message = "old begins or ends inside a two-byte character of a file that is not UTF-8; give whole lines"
        return Problem(Trouble.ENCODING, message, index, lines)
    return [Span(hit, hit + len(old), new, index) for hit in hits]


def _refused(file: TextFile, edit: Edit, index: int) -> Problem | None:
    flat = file.flat
    if not edit.old:
        message = "old is empty; give the text to replace, or use write for a new file or a whole one"
        return Problem(Trouble.EMPTY_OLD, message, index)
    if edit.old == edit.new:
        return Problem(Trouble.NO_CHANGE, "old and new are the same; nothing would change", index)
    if flat.flatten(edit.old) == flat.flatten(edit.new):
        message = "old and new differ in line endings alone, and edit keeps those of the file; nothing would change"
        return Problem(Trouble.NO_CHANGE, message, index)
    if has_surrogates(edit.old):
        return Problem(Trouble.ENCODING, "old holds half of a surrogate pair; leave it out of the match", index)
    unencodable: Unencodable | None = file.check(edit.new, edit.old)
    return None if unencodable is None else Problem(Trouble.ENCODING, unencodable.reason, index)


def _hits(text: str, old: str, *, overlapping: bool) -> list[int]:
    hits: list[int] = []
    place = text.find(old)
    while place != -1:
        hits.append(place)
        place = text.find(old, place + (1 if overlapping else len(old)))
    return hits


def _overlap(flat: Flat, left: Span, right: Span) -> Problem:
    line = line_of(flat.text, right.start)
    message = (
        f"edits[{left.edit}] and edits[{right.edit}] overlap on line {line}; join them into one edit "
        "(each old is matched in the file as it is, not after the edits before it)"
    )
    return Problem(Trouble.OVERLAP, message, right.edit, (line,))


def _named(problem: Problem, count: int) -> Problem:
    if count == 1:
        return problem
    message = f"edits[{problem.edit}]: {problem.message}; none of the {count} edits was made"
    return Problem(problem.trouble, message, problem.edit, problem.lines)


def _splice(file: TextFile, spans: Sequence[Span]) -> Applied:
    flat = file.flat
    data, text = [file.bom], []
    done = 0
    for span in spans:
        data.append(file.to_bytes(file.text[flat.origin(done) : flat.origin(span.start)]))
        data.append(file.to_bytes(_in_the_endings_of(flat, span)))
        text += [flat.text[done : span.start], span.new]
        done = span.end
    data.append(file.to_bytes(file.text[flat.origin(done) :]))
    text.append(flat.text[done:])
    return Applied(b"".join(data), "".join(text), tuple(spans))


def _in_the_endings_of(flat: Flat, span: Span) -> str:
    """The new text as the file ends its lines; in a mixed file a line that stays keeps its own ending."""
    if "\n" not in span.new:
        return span.new
    style = flat.style or ("\n" if not flat.breaks else None)
    if style is not None:
        return span.new.replace("\n", style)
    old_lines = flat.text[span.start : span.end].split("\n")
    new_lines = span.new.split("\n")
    if len(old_lines) * len(new_lines) > _ALIGNED:
        return span.new.replace("\n", flat.usual)
    taken = _aligned(old_lines, new_lines, _endings(flat, span))
    return "".join(line + end for line, end in zip(new_lines, [*taken, ""], strict=True))


def _endings(flat: Flat, span: Span) -> list[str]:
    """Of the lines that end within the span, and of the one the span's last line ends with (or the one before)."""
    inside = _hits(flat.text[span.start : span.end], "\n", overlapping=False)
    own = [flat.ending(span.start + place) for place in inside]
    after = flat.text.find("\n", span.end)
    before = flat.text.rfind("\n", 0, span.start)
    near = after if after != -1 else before
    return [*own, flat.ending(near) if near != -1 else flat.usual]


def _aligned(old_lines: list[str], new_lines: list[str], own: list[str]) -> list[str]:
    taken = [""] * len(new_lines)
    matcher = SequenceMatcher(None, old_lines, new_lines, autojunk=False)
    for _, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        for new_index in range(new_from, new_to):
            # What is inserted beyond the lines it replaces takes the ending of the line before it.
            last = max(old_to - 1, 0)
            taken[new_index] = own[min(old_from + new_index - new_from, last)]
    return taken[:-1]
