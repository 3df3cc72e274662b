"""Rows of numbers: ours beside the floor, with the goal that issue 3 sets.

Owns how they are printed and judged. Does not measure.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, kw_only=True)
class Row:
    """`ratio` is ours / floor. A goal bounds the ratio, or (on a quiet machine: a guide) the number itself."""

    name: str
    unit: str
    ours: float
    floor: float | None = None
    ratio_at_most: float | None = None
    ratio_at_least: float | None = None
    at_most: float | None = None
    peer: float | None = None  # Letta Code's, measured on a machine like ours
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return self.ours / self.floor if self.floor else None

    @property
    def goal(self) -> str:
        parts = []
        if self.ratio_at_most is not None:
            parts.append(f"<= {self.ratio_at_most:g}x")
        if self.ratio_at_least is not None:
            parts.append(f">= {self.ratio_at_least:g}x")
        if self.at_most is not None:
            parts.append(f"<= {self.at_most:g} {self.unit}")
        return ", ".join(parts)

    @property
    def verdict(self) -> str:
        if not self.goal:
            if self.peer is None:
                return ""
            return "ok" if self.ours <= self.peer else "over"
        over = self.at_most is not None and self.ours > self.at_most
        if self.ratio is not None:
            over |= self.ratio_at_most is not None and self.ratio > self.ratio_at_most
            over |= self.ratio_at_least is not None and self.ratio < self.ratio_at_least
        return "over" if over else "ok"


@dataclass(frozen=True)
class Group:
    title: str
    rows: Sequence[Row]


def shown(groups: Sequence[Group]) -> str:
    lines = [("", "ours", "floor", "ratio", "Letta", "goal", "", "")]
    for group in groups:
        lines.append((group.title.upper(), *[""] * 7))
        lines += [_cells(row) for row in group.rows]
    widths = [max(len(line[n]) for line in lines) for n in range(7)]
    return "\n".join(
        "  ".join(
            cell.ljust(widths[n]) if n in (0, 5) else cell.rjust(widths[n]) if n < 7 else cell
            for n, cell in enumerate(line)
        ).rstrip()
        for line in lines
    )


def as_json(groups: Sequence[Group], **more: object) -> str:
    rows = [
        {"group": group.title, **asdict(row), "ratio": row.ratio, "goal": row.goal, "verdict": row.verdict}
        for group in groups
        for row in group.rows
    ]
    return json.dumps({**more, "rows": rows}, indent=2)


def _cells(row: Row) -> tuple[str, ...]:
    ratio = f"{row.ratio:.2f}x" if row.ratio is not None else ""
    floor, peer = ("" if value is None else _number(value) for value in (row.floor, row.peer))
    return f"  {row.name} ({row.unit})", _number(row.ours), floor, ratio, peer, row.goal, row.verdict, row.note


def _number(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
