"""A terminal as far as the chat uses one: what stands on it after what was written to it.

Owns the meaning of the escape sequences that the chat writes; any other one is an error, so that none is missed.
"""

import re

from agent_ls.cli.cells import width

_SEQUENCE = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])")


class Screen:
    """Lines that scrolled away and the grid, as text without colours. `modes` are the private ones that are on."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self.columns, self.rows = columns, rows
        self.scrolled: list[str] = []
        self.grid = [[" "] * columns for _ in range(rows)]
        self.row = self.column = 0
        self.modes: set[str] = set()
        self._wrap = True
        self._rest = ""

    def feed(self, text: str) -> None:
        text, self._rest = self._rest + text, ""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self._sign(text[at])
                at += 1
                continue
            found = _SEQUENCE.match(text, at)
            if found is None:
                assert len(text) - at < 16, f"unknown sequence {text[at : at + 16]!r}"
                self._rest = text[at:]
                return
            self._sequence(found[1], found[2], found[3])
            at = found.end()

    @property
    def lines(self) -> list[str]:
        """Everything, from the first line on, without blank lines at the end."""
        lines = self.scrolled + ["".join(row).rstrip() for row in self.grid]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def _sign(self, sign: str) -> None:
        if sign == "\r":
            self.column = 0
        elif sign == "\n":
            self._down()
        elif cells := width(sign):
            if self.column + cells > self.columns:
                if not self._wrap:
                    self.column = self.columns - cells
                else:
                    self.column = 0
                    self._down()
            self.grid[self.row][self.column : self.column + cells] = [sign] + [""] * (cells - 1)
            self.column += cells

    def _down(self) -> None:
        if self.row < self.rows - 1:
            self.row += 1
            return
        self.scrolled.append("".join(self.grid.pop(0)).rstrip())
        self.grid.append([" "] * self.columns)

    def _sequence(self, private: str, numbers: str, letter: str) -> None:
        count = int(numbers.split(";", maxsplit=1)[0] or 1) if letter in "ABC" else 0
        match private + letter:
            case "A":
                assert count <= self.row, "moved above the top"
                self.row -= count
            case "B":
                assert self.row + count < self.rows, "moved below the end"
                self.row += count
            case "C":
                self.column = min(self.columns - 1, self.column + count)
            case "H":
                self.row = self.column = 0
            case "K":
                self._erase(self.row, self.column)
            case "J":
                start = (0, 0) if numbers == "2" else (self.row, self.column)
                self._erase(*start)
                for row in range(start[0] + 1, self.rows):
                    self._erase(row, 0)
            case "?h" | "?l":
                self._mode(numbers, on=letter == "h")
            case "m":
                pass
            case _:
                raise AssertionError(f"unknown sequence {private}{numbers}{letter}")

    def _erase(self, row: int, column: int) -> None:
        self.grid[row][column:] = [" "] * (self.columns - column)

    def _mode(self, number: str, *, on: bool) -> None:
        if number == "7":
            self._wrap = on
        (self.modes.add if on else self.modes.discard)(number)
