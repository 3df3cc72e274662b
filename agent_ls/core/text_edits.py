"""The few small edits that make one text of another, for a window that has the first one open.

Owns which ranges are sent: only what differs, so that cursor, marks and folds of all else stay where they are. Does
not own sending them.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

from agent_ls.core.text import Text, body, split

# Comparing lines costs up to their product; beyond this all between the first and the last difference is one edit.
_COMPARED = 250_000
# How far into its first and last line an edit is narrowed down.
_NARROWED = 4_096

TextEdit = dict[str, Any]


def edits(old: Text, new: str) -> list[TextEdit]:
    """LSP TextEdits in the encoding of `old`, in order, without overlap; none when the texts are the same."""
    was, will = old.lines, split(new)
    return [_edit(old, was[a:b], will[c:d], at=a) for a, b, c, d in _hunks(was, will)]


def appended(old: Text, more: str) -> TextEdit:
    """`more` behind the end of the text, whatever its length."""
    last = len(old.lines) - 1
    if last and not old.lines[last]:
        return _appended(old, more, at=last)
    return {"range": {"start": old.end(), "end": old.end()}, "newText": more}


def holds(before: str, target: str, now: str) -> bool:
    """Whether `now` is `target` with more typed into it, none of that at a place where `target` is not as `before`."""
    will = split(target)
    places = [(c, d) for _, _, c, d in _hunks(split(before), will)]
    typed = [(a, b) for a, b, _, _ in _hunks(will, split(now))]
    return all(_beside(place, other) for place in places for other in typed)


def apart(one: str, other: str) -> tuple[int, int]:
    """(length of the common start, length of the common end), which do not overlap."""
    start = _common(one, other)
    rest = min(len(one), len(other)) - start
    return start, _common(one[len(one) - rest :][::-1], other[len(other) - rest :][::-1])


def _beside(place: tuple[int, int], other: tuple[int, int]) -> bool:
    """Two ranges of lines with nothing in common. One that is empty stands between lines, and touches both of them."""
    gap = 1 if place[0] == place[1] or other[0] == other[1] else 0
    return other[0] >= place[1] + gap or other[1] + gap <= place[0]


def _hunks(was: Sequence[str], will: Sequence[str]) -> list[tuple[int, int, int, int]]:
    shortest = min(len(was), len(will))
    head = tail = 0
    while head < shortest and was[head] == will[head]:
        head += 1
    while tail < shortest - head and was[-1 - tail] == will[-1 - tail]:
        tail += 1
    old_end, new_end = len(was) - tail, len(will) - tail
    if head == old_end and head == new_end:
        return []
    if (old_end - head) * (new_end - head) > _COMPARED:
        return [(head, old_end, head, new_end)]
    matcher = SequenceMatcher(None, was[head:old_end], will[head:new_end], autojunk=False)
    return [(head + a, head + b, head + c, head + d) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]


def _edit(text: Text, was: Sequence[str], will: Sequence[str], *, at: int) -> TextEdit:
    """Lines `was`, which begin at line `at`, become lines `will`."""
    replaced = "".join(will)
    if not was and at and at == len(text.lines) - 1 and not text.lines[at]:
        return _appended(text, replaced, at=at)
    if not was or not will:
        end = text.position(at + len(was), 0) if at + len(was) < len(text.lines) else text.end()
        start = text.position(at, 0) if at < len(text.lines) else text.end()
        return {"range": {"start": start, "end": end}, "newText": replaced}
    head, tail = _narrowed(was, will)
    last = was[-1]
    # An end that stays is never cut through: `tail` holds all of it, or nothing.
    end = text.position(at + len(was) - 1, len(last) - tail) if tail else _after(text, at + len(was))
    return {
        "range": {"start": text.position(at, head), "end": end},
        "newText": replaced[head : len(replaced) - tail],
    }


def _appended(text: Text, added: str, *, at: int) -> TextEdit:
    """New last lines are put before the newline that ends the text: behind it, Neovim adds one line too many."""
    last = text.lines[at - 1]
    ending = last[body(last) :]
    place = text.position(at, 0)
    if added.endswith(ending):
        place, added = text.position(at - 1, body(last)), ending + added.removesuffix(ending)
    return {"range": {"start": place, "end": place}, "newText": added}


def _after(text: Text, line: int) -> dict[str, int]:
    return text.position(line, 0) if line < len(text.lines) else text.end()


def _narrowed(was: Sequence[str], will: Sequence[str]) -> tuple[int, int]:
    """(code points at the start of the first line, and at the end of the last one) that stay."""
    first, new_first, last, new_last = was[0], will[0], was[-1], will[-1]
    head = _common(first[: min(body(first), _NARROWED)], new_first[: body(new_first)])
    ending = last[body(last) :]
    if ending != new_last[body(new_last) :]:
        return head, 0
    old_rest = last[head if len(was) == 1 else 0 : body(last)]
    new_rest = new_last[head if len(will) == 1 else 0 : body(new_last)]
    return head, len(ending) + _common(old_rest[-_NARROWED:][::-1], new_rest[-_NARROWED:][::-1])


def _common(one: str, other: str) -> int:
    """The length of the common start, found by halving."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low
