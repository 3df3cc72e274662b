"""A Markdown table as a grid on a terminal: aligned where it fits, its cells wrapped where it does not.

Owns which lines are rows of a table and how wide its columns get. Pure: what is painted in a cell is markdown's.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from agent_ls.cli.cells import width, wrap
from agent_ls.cli.terminal import Style

_CELL: Final = re.compile(r"(?<!\\)\|")
_RULE: Final = re.compile(r":?-+:?")
_GAP: Final = "  "
_NARROWEST: Final = 8

Paint = Callable[[str], str]


def is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def is_grid(lines: Sequence[str]) -> bool:
    """A head, a rule beneath it of as many cells, and rows: else they are lines that begin with a bar."""
    if len(lines) < 2:
        return False
    rule = _cells(lines[1])
    return len(rule) == len(_cells(lines[0])) and all(_RULE.fullmatch(cell) for cell in rule)


def grid(lines: Sequence[str], columns: int, *, style: Style, paint: Paint) -> list[str] | None:
    """None where there are more columns than fit."""
    head, _, *body = [_cells(line) for line in lines]
    rows = [[paint(cell) for cell in (*row, *[""] * len(head))[: len(head)]] for row in body]
    titles = [style.bold(paint(cell)) for cell in head]
    widths = [max(width(row[at]) for row in [titles, *rows]) for at in range(len(head))]
    fitted = _fitted(widths, columns - len(_GAP) * (len(head) - 1))
    if fitted is None:
        return None
    rule = style.dim(_GAP.join("─" * size for size in fitted))
    return [*_row(titles, fitted), rule, *(line for row in rows for line in _row(row, fitted))]


def _cells(line: str) -> list[str]:
    text = line.strip().removeprefix("|")
    text = text.removesuffix("|") if not text.endswith("\\|") else text
    return [cell.replace("\\|", "|").strip() for cell in _CELL.split(text)]


def _fitted(widths: list[int], room: int) -> list[int] | None:
    """Narrow columns keep what they need; the wide ones share the rest."""
    fitted = list(widths)
    while sum(fitted) > room:
        widest = max(range(len(fitted)), key=lambda at: fitted[at])
        if fitted[widest] <= _NARROWEST:
            return None
        fitted[widest] -= 1
    return fitted


def _row(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    parts = [wrap(cell, size) for cell, size in zip(cells, widths, strict=True)]
    lines = []
    for at in range(max(map(len, parts))):
        shown = [part[at] if at < len(part) else "" for part in parts]
        padded = [text + " " * (size - width(text)) for text, size in zip(shown, widths, strict=True)]
        lines.append(_GAP.join(padded).rstrip())
    return lines
