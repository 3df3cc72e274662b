"""Painted text measured in the cells of a terminal: how wide it is, where it wraps, where it is cut.

Owns the widths of signs and that colours survive a wrap or a cut. Pure; knows no terminal.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

PAINT: Final = re.compile(r"\x1b\[[0-9;]*m")
RESET: Final = "\x1b[0m"
TAB: Final = 4
_NOTHING: Final = frozenset({"Mn", "Me", "Cf", "Cc"})


def width(text: str) -> int:
    """Cells that the text takes; what paints it takes none."""
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(_cells(sign) for sign in PAINT.sub("", text))


def clip(text: str, columns: int) -> str:
    """No more than `columns` cells; `…` where something was cut off."""
    if width(text) <= columns:
        return text
    kept, used = [], 0
    for piece, is_paint in _pieces(text):
        if is_paint:
            kept.append(piece)
            continue
        used += _cells(piece)
        if used > columns - 1:
            break
        kept.append(piece)
    return "".join(kept) + ("…" if columns > 0 else "") + (RESET if PAINT.search(text) else "")


def wrap(text: str, columns: int, hang: str = "") -> list[str]:
    """Rows of at most `columns` cells, broken at blanks where there is one; rows after the first begin with `hang`."""
    columns = max(columns, width(hang) + 8)
    if width(text) <= columns:
        return [text]
    rows: list[_Row] = [_Row("")]
    for piece, is_paint in _pieces(text):
        row = rows[-1]
        if is_paint:
            row.paint(piece)
        elif row.used + _cells(piece) <= columns:
            row.put(piece)
        elif piece == " ":
            rows.append(_Row(hang, row.colours))
        else:
            rows.append(row.broken(hang))
            rows[-1].put(piece)
    return [row.text() for row in rows]


def untabbed(text: str) -> str:
    """Tabs as blanks: a tab's width depends on where it stands, which nobody here knows."""
    return text.replace("\t", " " * TAB)


class _Row:
    """One row as it fills: its pieces, where it may be broken, and the colours that hold at each place."""

    def __init__(self, lead: str, colours: str = "") -> None:
        self._pieces: list[str] = [lead + colours] if lead or colours else []
        self.used = width(lead)
        self.colours = colours
        self._break: tuple[int, str] | None = None

    def paint(self, piece: str) -> None:
        self.colours = "" if piece in {RESET, "\x1b[m"} else self.colours + piece
        self._pieces.append(piece)

    def put(self, piece: str) -> None:
        self._pieces.append(piece)
        self.used += _cells(piece)
        if piece == " " or _cells(piece) == 2:
            self._break = (len(self._pieces), self.colours)

    def broken(self, hang: str) -> "_Row":
        """The rest of this row after its last blank, as the beginning of the next; nothing where there is none."""
        if self._break is None:
            return _Row(hang, self.colours)
        at, colours = self._break
        rest, self._pieces = self._pieces[at:], self._pieces[:at]
        self.colours, following = colours, _Row(hang, colours)
        for piece in rest:
            following.paint(piece) if PAINT.fullmatch(piece) else following.put(piece)
        return following

    def text(self) -> str:
        return "".join(self._pieces).rstrip(" ") + (RESET if self.colours else "")


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Sign by sign, those that take no cell with the one before them; paint in one piece."""
    at = 0
    for found in [*PAINT.finditer(text), None]:
        end = found.start() if found else len(text)
        while at < end:
            stop = at + 1
            while stop < end and _cells(text[stop]) == 0:
                stop += 1
            yield text[at:stop], False
            at = stop
        if found:
            yield found.group(), True
            at = found.end()


@lru_cache(maxsize=4096)
def _cells(signs: str) -> int:
    if len(signs) > 1:
        return sum(_cells(sign) for sign in signs)
    if " " <= signs <= "~":
        return 1
    if signs == "\t":
        return TAB
    if unicodedata.category(signs) in _NOTHING:
        return 0
    return 2 if unicodedata.east_asian_width(signs) in {"W", "F"} else 1
