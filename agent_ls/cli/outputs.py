"""Output of commands while they run, as whole lines for a terminal that only goes on.

Owns which command the lines belong to and whether all of it was seen, so that the settled call need not say it again.
Pure: takes wire objects, prints nothing.
"""

from dataclasses import dataclass
from typing import Any

from agent_ls.cli import render
from agent_ls.cli.terminal import Style
from agent_ls.core.display import named

Json = dict[str, Any]


@dataclass
class _Output:
    item: Json
    seen: int = 0
    missed: bool = False
    rest: str = ""


class Outputs:
    """Commands that run, by item id."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._running: dict[str, _Output] = {}
        self._speaking = ""

    def started(self, item: Json) -> None:
        self._running.setdefault(str(item["id"]), _Output(item))

    def lines(self, part: Json) -> list[str]:
        """What has become whole by this part; the name of the command first where another one spoke before."""
        item_id, text = str(part["itemId"]), str(part["output"])
        held = self._running.get(item_id)
        if held is None:
            return []
        held.missed |= held.seen + len(text) != int(part.get("cursor") or 0)
        held.seen = int(part.get("cursor") or 0)
        *whole, held.rest = (held.rest + text).split("\n")
        return self._said(item_id, held, whole)

    def settled(self, item: Json) -> tuple[list[str], bool]:
        """(what is left of the output, whether all of it was seen)."""
        item_id = str(item["id"])
        held = self._running.pop(item_id, None)
        if held is None or not held.seen:
            return [], False
        left = self._said(item_id, held, [held.rest] if held.rest else [])
        self._speaking = ""
        return left, not held.missed

    def _said(self, item_id: str, held: _Output, whole: list[str]) -> list[str]:
        # Progress bars write one line over and over: its last state is what a terminal would show.
        rows = [named(line.rstrip("\r").rpartition("\r")[2]) for line in whole]
        lines = render.indented([self._style.dim(row) for row in rows])
        if lines and self._speaking != item_id:
            self._speaking = item_id
            title = self._style.bold(render.call_title(held.item["payload"]))
            lines.insert(0, f"{self._style.paint('◐', 'cyan')} {title}")
        return lines
