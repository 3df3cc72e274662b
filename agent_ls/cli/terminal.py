"""The terminal: colours where they are wanted, plain text elsewhere.

Owns how text is painted and measured, and the question y/N. Does not own what is shown (render.py) nor which signs are
shown by name (core.display).
"""

import json
import os
import shutil
import sys
from typing import Any, Final, TextIO

from agent_ls.cli.cells import untabbed, wrap
from agent_ls.core.display import named, one_line

_CODES: Final = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "underline": "4",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
# Harmless in prose, where they make emoji and typography; a command or a path has no use for them.
_IN_PROSE: Final = {f"⟨U+{ord(sign):04X}⟩": sign for sign in "\ufe0f\u200d\u00a0\u202f\u3000"}


class Style:
    """Paints when its stream is a terminal and nobody asked for plain text (NO_COLOR, TERM=dumb)."""

    def __init__(self, *, colours: bool) -> None:
        self.colours = colours

    def paint(self, text: str, *names: str) -> str:
        if not self.colours or not text:
            return text
        codes = ";".join(_CODES[name] for name in names)
        return f"\x1b[{codes}m{text}\x1b[0m"

    def bold(self, text: str) -> str:
        return self.paint(text, "bold")

    def dim(self, text: str) -> str:
        return self.paint(text, "dim")


PLAIN: Final = Style(colours=False)


def style_of(stream: TextIO) -> Style:
    if os.environ.get("NO_COLOR"):
        return PLAIN
    if os.environ.get("FORCE_COLOR"):
        return Style(colours=True)
    return Style(colours=is_terminal(stream) and os.environ.get("TERM") != "dumb")


def is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:
        return False


def width() -> int:
    return max(40, min(shutil.get_terminal_size((100, 24)).columns, 120))


def columns_of(stream: TextIO) -> int | None:
    """The width of a terminal; None where lines have no end."""
    return max(20, shutil.get_terminal_size().columns) if is_terminal(stream) else None


def prose(text: str) -> str:
    """What a model says. Signs that hide or reorder are shown by name, those of ordinary typography stay."""
    shown = named(text)
    if shown is not text and "⟨" in shown:
        for name, sign in _IN_PROSE.items():
            shown = shown.replace(name, sign)
    return shown


def wrapped(line: str, columns: int | None, hang: str = "  ") -> list[str]:
    """A line of words, broken between them; whole where lines have no end."""
    return [line] if columns is None else wrap(untabbed(line), columns, hang)


def put(text: str = "") -> None:
    print(text, flush=True)


def aside(text: str = "") -> None:
    """To stderr: beside the data that a script reads from stdout."""
    columns = columns_of(sys.stderr)
    rows = [row for line in text.split("\n") for row in wrapped(line, columns)]
    print("\n".join(rows), file=sys.stderr, flush=True)


def put_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, separators=(",", ":")), flush=True)


def complain(message: str, hint: str = "") -> None:
    style = style_of(sys.stderr)
    aside(f"{style.paint('agent-ls:', 'red', 'bold')} {one_line(message, 500)}")
    if hint:
        aside(f"  {style.dim(one_line(hint, 500))}")


def ask_yes(question: str) -> bool | None:
    """The person's y or n; None where nobody can be asked."""
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        return None
    try:
        sys.stderr.write(f"{question} [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in {"y", "yes"}
    except KeyboardInterrupt:
        aside()
        raise


def table(rows: list[list[str]], style: Style, *, head: list[str]) -> list[str]:
    """Aligned columns; the last one is not padded."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = [style.dim(_row(head, widths))]
    return lines + [_row(row, widths) for row in rows]


def _row(cells: list[str], widths: list[int]) -> str:
    padded = [cell.ljust(size) for cell, size in zip(cells[:-1], widths, strict=False)]
    return "  ".join([*padded, cells[-1]]).rstrip()
