"""Turns a terminal capture with colours (`tmux capture-pane -p -e`) into an SVG for the docs.

    tmux capture-pane -p -e | python scripts/picture.py > docs/pictures/demo.svg

Owns the few escape sequences that tmux writes: SGR with 16, 256 and true colours, bold, dim, italic, reverse.
"""

import re
import sys
import unicodedata
from dataclasses import dataclass, replace
from html import escape

WIDTH, HEIGHT, PAD, SIZE = 8.4, 18.0, 16, 14
DARK = ("#1e2127", "#d7dae0")
LIGHT = ("#fafafa", "#383a42")
COLOURS = [
    "#3b4048",
    "#e06c75",
    "#98c379",
    "#e5c07b",
    "#61afef",
    "#c678dd",
    "#56b6c2",
    "#c8ccd4",
    "#7f848e",
    "#ff7b86",
    "#a9d48a",
    "#f0cf8c",
    "#74bdff",
    "#d68be8",
    "#67c9d6",
    "#ffffff",
]
SGR = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\(B|\x0f|\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True)
class Style:
    front: str | None = None
    back: str | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    reverse: bool = False


def picture(capture: str, *, light: bool = False) -> str:
    """The whole SVG."""
    lines = capture.rstrip("\n").split("\n")
    ground, text = LIGHT if light else DARK
    columns = max(len(SGR.sub("", line)) for line in lines)
    width, height = columns * WIDTH + 2 * PAD, len(lines) * HEIGHT + 2 * PAD
    body: list[str] = []
    style = Style()
    for row, line in enumerate(lines):
        style = _row(line, row, style=style, body=body, colours=(ground, text))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">\n'
        f'<rect width="100%" height="100%" rx="8" fill="{ground}"/>\n'
        f'<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" '
        f'font-size="{SIZE}" fill="{text}" xml:space="preserve">\n' + "\n".join(body) + "\n</g>\n</svg>\n"
    )


def _row(line: str, row: int, *, style: Style, body: list[str], colours: tuple[str, str]) -> Style:
    column, start = 0, 0
    for found in [*SGR.finditer(line), None]:
        piece = line[start : found.start() if found else len(line)]
        if piece:
            body.append(_piece(piece, (row, column), style=style, colours=colours))
            column += sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in piece)
        if found is None:
            return style
        start = found.end()
        if found.group(1) is not None:
            style = _sgr(style, found.group(1))
    return style


def _piece(text: str, place: tuple[int, int], *, style: Style, colours: tuple[str, str]) -> str:
    row, column = place
    x, y = PAD + column * WIDTH, PAD + row * HEIGHT
    front, back = style.front, style.back
    if style.reverse:
        front, back = back or colours[0], front or colours[1]
    made = ""
    if back:
        made = f'<rect x="{x:.1f}" y="{y:.1f}" width="{len(text) * WIDTH:.1f}" height="{HEIGHT}" fill="{back}"/>'
    if not text.strip():
        return made
    attributes = f' fill="{front}"' if front else ""
    attributes += ' font-weight="bold"' if style.bold else ""
    attributes += ' opacity="0.6"' if style.dim else ""
    attributes += ' font-style="italic"' if style.italic else ""
    length = f' textLength="{len(text) * WIDTH:.1f}" lengthAdjust="spacingAndGlyphs"'
    return made + f'<text x="{x:.1f}" y="{y + SIZE - 1:.1f}"{length}{attributes}>{escape(text)}</text>'


def _sgr(style: Style, codes: str) -> Style:
    numbers = [int(code or 0) for code in re.split("[;:]", codes)] or [0]
    while numbers:
        code = numbers.pop(0)
        if code == 0:
            style = Style()
        elif code in (1, 2, 3, 7):
            style = replace(style, **{{1: "bold", 2: "dim", 3: "italic", 7: "reverse"}[code]: True})
        elif code == 22:
            style = replace(style, bold=False, dim=False)
        elif code in (38, 48):
            colour = _extended(numbers)
            style = replace(style, front=colour) if code == 38 else replace(style, back=colour)
        elif code in (39, 49):
            style = replace(style, front=None) if code == 39 else replace(style, back=None)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style = replace(style, front=COLOURS[code - 30 if code < 90 else code - 82])
        elif 40 <= code <= 47 or 100 <= code <= 107:
            style = replace(style, back=COLOURS[code - 40 if code < 100 else code - 92])
    return style


def _extended(numbers: list[int]) -> str | None:
    kind = numbers.pop(0) if numbers else 0
    if kind == 2 and len(numbers) >= 3:
        red, green, blue = numbers.pop(0), numbers.pop(0), numbers.pop(0)
        return f"#{red:02x}{green:02x}{blue:02x}"
    if kind != 5 or not numbers:
        return None
    index = numbers.pop(0)
    if index < 16:
        return COLOURS[index]
    if index >= 232:
        return "#" + f"{8 + 10 * (index - 232):02x}" * 3
    steps = (0, 95, 135, 175, 215, 255)
    index -= 16
    return "#" + "".join(f"{steps[part]:02x}" for part in (index // 36, index // 6 % 6, index % 6))


if __name__ == "__main__":
    sys.stdout.write(picture(sys.stdin.read(), light="--light" in sys.argv))
