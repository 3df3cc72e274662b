"""Which lines of one text stand in another one, at a cost that is bounded by their sizes.

Owns the pairing: lines are paired in order, each at most once. Does not own what follows from it for an edit.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

# Comparing lines costs up to their product; a larger piece without a single line that is unique stays unpaired.
_COMPARED = 1_000_000

Pair = tuple[int, int]


def images(old: Sequence[str], new: Sequence[str]) -> list[int | None]:
    """For each line of `old` its place in `new`, None where it is not there any more."""
    found: list[int | None] = [None] * len(old)
    head = _common(old, new)
    tail = min(_common(old[::-1], new[::-1]), min(len(old), len(new)) - head)
    for place in range(head):
        found[place] = place
    for place in range(1, tail + 1):
        found[len(old) - place] = len(new) - place
    for one, other in _paired(old[head : len(old) - tail], new[head : len(new) - tail]):
        found[head + one] = head + other
    return found


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    place = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        place += 1
    return place


def _paired(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """Between lines that are unique in both pieces, and in the same order there, each gap for itself."""
    pairs: list[Pair] = []
    done = done_new = 0
    for place, place_new in [*_anchors(old, new), (len(old), len(new))]:
        gap = _close(old[done:place], new[done_new:place_new])
        pairs += [(done + one, done_new + other) for one, other in gap]
        if place < len(old) and place_new < len(new):
            pairs.append((place, place_new))
        done, done_new = place + 1, place_new + 1
    return pairs


def _close(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    if not old or not new or len(old) * len(new) > _COMPARED:
        return []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [(one + k, other + k) for one, other, size in matcher.get_matching_blocks() for k in range(size)]


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[Pair]:
    """The longest rising row of lines that occur once in each piece."""
    if len(old) * len(new) <= _COMPARED:
        return []
    times, times_new = Counter(old), Counter(new)
    where = {line: place for place, line in enumerate(new) if times_new[line] == 1}
    pairs = [(p, where[line]) for p, line in enumerate(old) if times[line] == 1 and line in where]
    ends: list[int] = []
    rows: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(rows[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        rows[length : length + 1] = [index]
    found: list[Pair] = []
    index = rows[-1] if rows else -1
    while index != -1:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]
