"""Markdown on a terminal, lightly: headings, code, bold, lists, tables, painted line by line as they come.

Owns what a line is painted like and how it wraps. Knows the fence it stands in and the table that it is in the middle
of, which is held back until it is whole, so that a line never changes once it is out. Pure.
"""

import re
from typing import Final

from agent_ls.cli.cells import untabbed, wrap
from agent_ls.cli.chat.grid import grid, is_grid, is_row
from agent_ls.cli.terminal import Style, prose

_FENCE: Final = re.compile(r"\s{0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$")
_HEADING: Final = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
_ITEM: Final = re.compile(r"(\s*)([-*+]|\d{1,3}[.)])\s+(.*)$")
_QUOTE: Final = re.compile(r"\s{0,3}>\s?(.*)$")
_RULE: Final = re.compile(r"\s{0,3}([-*_])(?:\s*\1){2,}\s*$")
_INLINE: Final = re.compile(
    r"(?P<code>`+)(?P<coded>.+?)(?P=code)(?!`)"
    r"|\*\*(?P<bold>\S(?:.*?\S)?)\*\*"
    r"|(?<![\w*])\*(?P<slanted>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])"
    r"|\[(?P<label>[^\]\[]+)\]\((?P<target>[^()\s]+)\)"
)
BAR: Final = "│ "


class Markdown:
    """One answer. `line` goes on, `end` gives what is left; `preview` shows what is not whole and changes nothing."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._fence = ""
        self._table: list[str] = []

    @property
    def holds(self) -> bool:
        return bool(self._table)

    def line(self, text: str, columns: int) -> list[str]:
        text = untabbed(prose(text))
        if not self._fence and is_row(text):
            self._table.append(text)
            return []
        return [*self.end(columns), *self._whole(text, columns)]

    def end(self, columns: int) -> list[str]:
        """The table that nothing follows any more."""
        rows, self._table = self._tabled(columns), []
        return rows

    def preview(self, text: str, columns: int) -> list[str]:
        text = untabbed(prose(text))
        if self._fence:
            return [self._code(text)]
        return [*self._tabled(columns), *(self._prose(text, columns) if text else [])]

    def _tabled(self, columns: int) -> list[str]:
        lines = self._table
        made = grid(lines, columns, style=self._style, paint=self._cell) if is_grid(lines) else None
        return made if made is not None else [row for line in lines for row in self._prose(line, columns)]

    def _cell(self, text: str) -> str:
        return self._inline(text) if self._style.colours else text

    def _whole(self, text: str, columns: int) -> list[str]:
        found = _FENCE.match(text)
        if self._fence:
            if found and found[1].startswith(self._fence) and not found[2]:
                self._fence = ""
                return []
            return [self._code(text)]
        if found:
            self._fence = found[1]
            return [self._style.dim(f"{BAR}{found[2]}".rstrip())] if found[2] else []
        return self._prose(text, columns)

    def _code(self, text: str) -> str:
        # Whole, however long: the terminal breaks it, so that it is copied as it is.
        return self._style.dim(BAR) + self._style.paint(text, "cyan")

    def _prose(self, text: str, columns: int) -> list[str]:
        style = self._style
        if not style.colours:
            return wrap(text, columns, _hang(text))
        if found := _HEADING.match(text):
            names = ("bold", "magenta") if len(found[1]) < 3 else ("bold",)
            return wrap(style.paint(found[2], *names), columns)
        if _RULE.match(text):
            return [style.dim("─" * min(columns, 40))]
        if found := _QUOTE.match(text):
            return wrap(style.dim(f"▌ {found[1]}"), columns, style.dim("▌ "))
        if found := _ITEM.match(text):
            mark = "•" if found[2] in "-*+" else found[2]
            return wrap(f"{found[1]}{style.paint(mark, 'magenta')} {self._inline(found[3])}", columns, _hang(text))
        return wrap(self._inline(text), columns)

    def _inline(self, text: str) -> str:
        return _INLINE.sub(self._painted, text)

    def _painted(self, found: re.Match[str]) -> str:
        if found["code"]:
            return self._style.paint(found["coded"], "cyan")
        if found["bold"]:
            return self._style.bold(found["bold"])
        if found["slanted"]:
            return self._style.paint(found["slanted"], "italic")
        if found["label"] == found["target"]:
            return self._style.paint(found["target"], "underline")
        return f"{found['label']} {self._style.dim('(' + found['target'] + ')')}"


def _hang(text: str) -> str:
    found = _ITEM.match(text)
    return " " * (len(found[1]) + len(found[2]) + 1) if found else ""
