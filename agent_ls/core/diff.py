"""A unified diff for people, at a cost that is bounded by the size of the texts.

Owns the shape of the diff. Does not own what is applied: a diff is shown, never run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from agent_ls.core.edits import Span
from agent_ls.core.textfile import printable, split_lines

CONTEXT = 3
LIMIT = 64 * 1024
# Comparing lines costs up to their product.
_COMPARED = 1_000_000


@dataclass(frozen=True)
class Change:
    """Lines [old_from, old_to) become [new_from, new_to), counted from 0."""

    old_from: int
    old_to: int
    new_from: int
    new_to: int


def of_rewrite(before: str, after: str, path: str, *, created: bool = False) -> str:
    """Both texts with `\\n` endings."""
    old, new = split_lines(before), split_lines(after)
    changes = _refined(old, new, Change(0, len(old), 0, len(new)))
    return _render(old, new, changes, names=_names(path, created=created))


def of_edit(before: str, after: str, path: str, *, spans: Sequence[Span]) -> str:
    """Only the lines around the spans are compared."""
    old, new = split_lines(before), split_lines(after)
    changes = [piece for change in _touched(before, after, spans) for piece in _refined(old, new, change)]
    return _render(old, new, changes, names=_names(path, created=False))


def _names(path: str, *, created: bool) -> list[str]:
    shown = path.lstrip("/")
    return ["--- /dev/null\n" if created else f"--- a/{shown}\n", f"+++ b/{shown}\n"]


def _touched(before: str, after: str, spans: Sequence[Span]) -> list[Change]:
    changes: list[Change] = []
    moved = old_place = old_line = new_place = new_line = 0
    for span in spans:
        new_start = span.start + moved
        new_end = new_start + len(span.new)
        old_line += before.count("\n", old_place, span.start)
        new_line += after.count("\n", new_place, new_start)
        old_from, new_from = old_line, new_line
        old_line += before.count("\n", span.start, span.end)
        new_line += after.count("\n", new_start, new_end)
        old_place, new_place, moved = span.end, new_end, new_end - span.end
        if changes and old_from < changes[-1].old_to:
            last = changes.pop()
            old_from, new_from = last.old_from, last.new_from
        changes.append(Change(old_from, old_line + 1, new_from, new_line + 1))
    return changes


def _refined(old: list[str], new: list[str], change: Change) -> list[Change]:
    """Without the lines at both ends that are the same, and line by line where that is affordable."""
    old_from, new_from = change.old_from, change.new_from
    old_to, new_to = min(change.old_to, len(old)), min(change.new_to, len(new))
    while old_from < old_to and new_from < new_to and old[old_from] == new[new_from]:
        old_from, new_from = old_from + 1, new_from + 1
    while old_from < old_to and new_from < new_to and old[old_to - 1] == new[new_to - 1]:
        old_to, new_to = old_to - 1, new_to - 1
    if old_from == old_to and new_from == new_to:
        return []
    if (old_to - old_from) * (new_to - new_from) > _COMPARED:
        return [Change(old_from, old_to, new_from, new_to)]
    matcher = SequenceMatcher(None, old[old_from:old_to], new[new_from:new_to], autojunk=False)
    return [
        Change(old_from + a, old_from + b, new_from + c, new_from + d)
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def _render(old: list[str], new: list[str], changes: Sequence[Change], *, names: list[str]) -> str:
    if not changes:
        return ""
    out = list(names)
    size = 0
    for hunk in _grouped(changes):
        for line in _hunk(old, new, hunk):
            size += len(line)
            if size > LIMIT:
                return printable("".join(out)) + "\\ The diff goes on; it is too long to show.\n"
            out.append(line)
    return printable("".join(out))


def _grouped(changes: Sequence[Change]) -> list[list[Change]]:
    groups: list[list[Change]] = []
    for change in changes:
        if groups and change.old_from - groups[-1][-1].old_to <= 2 * CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(old: list[str], new: list[str], changes: Sequence[Change]) -> list[str]:
    first, last = changes[0], changes[-1]
    lead = min(CONTEXT, first.old_from)
    tail = min(CONTEXT, len(old) - last.old_to)
    old_range = _range(first.old_from - lead, last.old_to + tail)
    new_range = _range(first.new_from - lead, last.new_to + tail)
    out = [f"@@ -{old_range} +{new_range} @@\n"]
    at = first.old_from - lead
    for change in changes:
        out += _marked(" ", old[at : change.old_from])
        out += _marked("-", old[change.old_from : change.old_to])
        out += _marked("+", new[change.new_from : change.new_to])
        at = change.old_to
    return out + _marked(" ", old[at : at + tail])


def _range(start: int, end: int) -> str:
    """Counted from 1; an empty range names the line before it."""
    count = end - start
    begin = start + 1 if count else start
    return str(begin) if count == 1 else f"{begin},{count}"


def _marked(mark: str, lines: Sequence[str]) -> list[str]:
    whole = "\n\\ No newline at end of file\n"
    return [mark + line if line.endswith("\n") else mark + line + whole for line in lines]
