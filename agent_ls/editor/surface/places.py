"""Lines: where a change begins, and where a line has gone when text above it was typed.

Owns arithmetic on line numbers, counted from 0. Does not own texts (documents) nor what stands on a line (board).
"""

import re
from typing import Any, Final

from agent_ls.editor.given import pick

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? ")


def first_changed_line(diff: str) -> int:
    """Of the text before the change; where lines are only added, the one that they push down."""
    line: int | None = None
    for row in diff.split("\n"):
        if line is None:
            if hunk := _HUNK.match(row):
                begin, count = int(hunk[1]), hunk[2]
                # An empty range names the line before it.
                line = begin if count == "0" else begin - 1
        elif row.startswith(" "):
            line += 1
        else:
            return line
    return line or 0


def moved(line: int, changes: Any) -> int:
    """Where the line is after the `contentChanges` of a didChange. What makes no sense moves nothing."""
    for change in changes if isinstance(changes, list) else []:
        span = change.get("range") if isinstance(change, dict) else None
        if not isinstance(span, dict) or not isinstance(change.get("text"), str):
            continue
        start, end = _position(span.get("start")), _position(span.get("end"))
        if start is None or end is None:
            continue
        if end <= (line, 0):
            line += change["text"].count("\n") - (end[0] - start[0])
        elif start[0] < line:
            line = start[0]
    return max(line, 0)


def line_of(params: Any, *path: str) -> int | None:
    """The line of a position in the parameters of a request."""
    place = _position(pick(params, *path))
    return None if place is None else place[0]


def _position(position: Any) -> tuple[int, int] | None:
    if not isinstance(position, dict):
        return None
    line, character = position.get("line"), position.get("character")
    if isinstance(line, int) and isinstance(character, int) and line >= 0:
        return line, character
    return None
