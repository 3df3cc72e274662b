"""The piece of a text that a model reads in one call.

Owns the limits and the words about what was left out. Works on text with `\\n` endings.
"""

from dataclasses import dataclass

from agent_ls.core.textfile import printable, split_lines

LINES = 2_000
BYTES = 256 * 1024
LINE = 2_000


@dataclass(frozen=True)
class Excerpt:
    """`beyond`: the offset is behind the last line. `notes` are for the header; none when the whole is here."""

    text: str
    total: int
    notes: tuple[str, ...] = ()
    beyond: bool = False


def excerpt(flat: str, *, offset: int, limit: int | None) -> Excerpt:
    """Lines from `offset` (counted from 1), as many as asked for and allowed."""
    lines = split_lines(flat)
    total = len(lines)
    if not lines and offset == 1:
        return Excerpt("", 0, ("the file is empty",))
    if offset > total:
        return Excerpt("", total, beyond=True)
    wanted = lines[offset - 1 : offset - 1 + min(limit or LINES, LINES)]
    taken, cut = _within_size(wanted)
    notes = _notes(offset, offset + len(taken) - 1, total, cut=cut)
    return Excerpt(printable("".join(taken)), total, notes)


def _within_size(lines: list[str]) -> tuple[list[str], list[int]]:
    """As many lines as fit, and the indices of those that were too long; always at least one."""
    taken: list[str] = []
    cut: list[int] = []
    size = 0
    for index, line in enumerate(lines):
        kept = line
        body = line.removesuffix("\n")
        if len(body) > LINE:
            cut.append(index)
            kept = body[:LINE] + f"… [{len(body) - LINE} more characters]" + line[len(body) :]
        size += len(kept.encode("utf-8", "surrogatepass"))
        if taken and size > BYTES:
            return taken, [place for place in cut if place < index]
        taken.append(kept)
    return taken, cut


def _notes(first: int, last: int, total: int, *, cut: list[int]) -> tuple[str, ...]:
    notes: list[str] = []
    if last < total:
        notes.append(f"lines {first} to {last} of {total}; go on with offset {last + 1}")
    elif first > 1:
        notes.append(f"lines {first} to {last} of {total}, the end of the file")
    if cut:
        named = ", ".join(str(first + index) for index in cut[:5])
        more = "" if len(cut) <= 5 else " and more"
        notes.append(f"cut after {LINE} characters: line {named}{more}")
    return tuple(notes)
