"""Why a text was not found: where it would be if one looked less closely.

Owns the kinds of looseness and the sentence about them. Nothing found here is ever edited: the model is told where
the text is and what differs, and asks again.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

_SIGNS = str.maketrans({
    "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "\u201c": '"', "\u201d": '"', "\u201e": '"',
    "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2212": "-",
    "\u00a0": " ", "\u2007": " ", "\u202f": " ", "\u200b": None, "\ufeff": None,
})  # fmt: skip
_HITS = 5
_SHOWN_LINES = 6
_SHOWN_CHARS = 200


@dataclass(frozen=True)
class Near:
    """`loose`: the text is there but for what the message names. `lines` count from 1."""

    message: str
    loose: bool = False
    lines: tuple[int, ...] = ()


def explain(text: str, old: str) -> Near:
    """Both with `\\n` endings; `old` does not occur in `text`."""
    for what, normalise in _LADDER:
        wanted = normalise(old)
        if not wanted.strip():
            continue
        lines = _lines_with(normalise(text), wanted)
        if lines:
            return Near(
                _loosely(what, lines) + _as_it_stands(text, lines[0], old.count("\n") + 1), loose=True, lines=lines
            )
    if "\ufffd" in old:
        return Near("old is not in the file; \ufffd stands for bytes that are no text: leave them out of old")
    return _beginning(text, old)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _unpadded(text: str) -> str:
    return re.sub(r"[ \t]+(?=\n|\Z)", "", text)


def _single_spaced(text: str) -> str:
    return re.sub(r"(?m)^ | $", "", re.sub(r"[ \t]+", " ", text))


def _plain_signs(text: str) -> str:
    return text.translate(_SIGNS)


def _everything(text: str) -> str:
    return _single_spaced(_plain_signs(unicodedata.normalize("NFKC", text)))


_LADDER: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("Unicode normalisation (composed or decomposed accents)", _nfc),
    ("blanks at the end of lines", _unpadded),
    ("tabs, spaces or indentation", _single_spaced),
    ("typographic quotes, dashes or no-break spaces", _plain_signs),
    ("several of accents, blanks, quotes and dashes", _everything),
)


def _lines_with(text: str, wanted: str) -> tuple[int, ...]:
    lines: list[int] = []
    place = text.find(wanted)
    while place != -1 and len(lines) < _HITS:
        lines.append(text.count("\n", 0, place) + 1)
        place = text.find(wanted, place + 1)
    return tuple(lines)


def _loosely(what: str, lines: tuple[int, ...]) -> str:
    at = ", ".join(map(str, lines))
    return f"old is not in the file as written; line {at} differs from it by {what} alone. "


def _as_it_stands(text: str, line: int, height: int) -> str:
    there = text.split("\n")[line - 1 : line - 1 + min(height, _SHOWN_LINES)]
    shown = "\n".join(repr(piece[:_SHOWN_CHARS])[1:-1] for piece in there)
    return f"Copy what stands there (escapes shown):\n{shown}"


def _beginning(text: str, old: str) -> Near:
    first = next((line.strip() for line in old.split("\n") if line.strip()), "")
    lines = _lines_with(text, first) if first else ()
    if not lines or "\n" not in old.strip("\n"):
        return Near("old is not in the file; read the file again and copy the text exactly")
    at = ", ".join(map(str, lines))
    return Near(
        f"old is not in the file; its first line is on line {at}, but what follows there is different. "
        "Read those lines again and copy them exactly",
        lines=lines,
    )
