"""The drawing model: lines that scroll away for good, and below them a live part that is drawn again in place.

Owns which escape sequences take the terminal from what it shows to what it is to show, touching only rows that
changed. Pure: makes text, writes nothing; what the rows say is not decided here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agent_ls.cli.cells import clip, width

BEGIN: Final = "\x1b[?2026h\x1b[?25l"
END: Final = "\x1b[?25h\x1b[?2026l"
CLEAR_LINE: Final = "\x1b[K"
CLEAR_BELOW: Final = "\x1b[J"
NO_WRAP: Final = "\x1b[?7l"
WRAP: Final = "\x1b[?7h"


@dataclass(frozen=True)
class Live:
    """Rows of the live part, and where the cursor stands in it: (row, column), both from 0."""

    rows: tuple[str, ...]
    cursor: tuple[int, int]


class Screen:
    """What the terminal shows. The cursor of the terminal stands in the live part between two drawings."""

    def __init__(self, columns: int, height: int) -> None:
        self.columns = columns
        self.height = height
        self._rows: tuple[str, ...] = ()
        self._cursor = (0, 0)

    def draw(self, lines: Sequence[str], live: Live) -> str:
        """Text to write; empty where nothing changed. `lines` go above the live part and stay there."""
        live = self._fitted(live)
        if not lines and live.rows == self._rows:
            return "" if live.cursor == self._cursor else self._place(live.cursor)
        top = 0 if lines else self._first_change(live.rows)
        text = [self._to_row(top)]
        if lines:
            # A line may take several rows, whose ends still show what stood there.
            text.append(CLEAR_BELOW)
            text += [f"{line}\r\n" for line in lines]
        text += [NO_WRAP, "\r\n".join(CLEAR_LINE + row for row in live.rows[top:])]
        if len(live.rows) < len(self._rows) and not lines:
            text.append(f"\r\n{CLEAR_BELOW}\x1b[A")
        text.append(WRAP)
        self._rows, self._cursor = live.rows, (len(live.rows) - 1, 0)
        text.append(self._place(live.cursor))
        return f"{BEGIN}{''.join(text)}{END}"

    def clear(self) -> str:
        """Takes the live part away; the cursor stands where it began."""
        text = self._to_row(0) + CLEAR_BELOW
        self.forget()
        return text

    def forget(self) -> None:
        """The terminal was emptied."""
        self._rows, self._cursor = (), (0, 0)

    def resized(self, columns: int, height: int) -> None:
        """Terminals break the rows again that do not fit any more: the live part begins further up then."""
        row, column = self._cursor
        count = len(self._rows)
        if columns < self.columns:
            broken = [_broken(width(text), columns) for text in self._rows]
            self._cursor = (sum(broken[:row]) + column // max(columns, 1), column)
            count = sum(broken)
        self.columns, self.height = columns, height
        # What is on the screen is not known any more: every row is drawn again.
        self._rows = ("\x00",) * count

    def _fitted(self, live: Live) -> Live:
        """Never more rows than the terminal has, never a row that reaches its edge; the cursor's row is kept."""
        keep = max(1, self.height - 1)
        row, column = live.cursor
        first = max(0, min(row, len(live.rows) - keep))
        rows = tuple(clip(text, max(1, self.columns - 1)) for text in live.rows[first : first + keep])
        return Live(rows or ("",), (row - first, min(column, max(0, self.columns - 1))))

    def _first_change(self, rows: tuple[str, ...]) -> int:
        same = 0
        while same < min(len(rows), len(self._rows)) and rows[same] == self._rows[same]:
            same += 1
        # A row below the last one is reached by a line end, which only writing that row gives.
        return min(same, len(rows) - 1, max(0, len(self._rows) - 1))

    def _place(self, cursor: tuple[int, int]) -> str:
        text = self._to_row(cursor[0]) + (f"\x1b[{cursor[1]}C" if cursor[1] else "")
        self._cursor = cursor
        return text

    def _to_row(self, row: int) -> str:
        """To the beginning of a row of the live part."""
        by = row - self._cursor[0]
        self._cursor = (row, 0)
        if by < 0:
            return f"\x1b[{-by}A\r"
        return (f"\x1b[{by}B" if by else "") + "\r"


def _broken(cells: int, columns: int) -> int:
    return max(1, -(-cells // max(columns, 1)))
