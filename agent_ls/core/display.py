"""Text as a person may safely judge it: nothing in it can hide, reorder or overwrite what will run.

Owns which characters are shown by name and how a long line is shortened without losing its end. Does not own what
runs: the raw text is what is executed, hashed and logged.
"""

import re
import unicodedata
from typing import Final

TITLE_LENGTH: Final = 160
LONGEST_BLANK: Final = 8

_KEPT: Final = frozenset("\n\t")
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Drawn as nothing although Unicode counts them as letters, marks or symbols.
_BLANK_LETTERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_BLANKS: Final = re.compile(rf" {{{LONGEST_BLANK + 1},}}|\t{{{LONGEST_BLANK + 1},}}|\n{{{LONGEST_BLANK + 1},}}")


def escaped(text: str) -> str:
    """The text with every unseen character shown by name (`⟨U+202E⟩`) and long blanks counted; lines stay lines."""
    return _BLANKS.sub(_counted, named(text))


def named(text: str) -> str:
    """Only the names: for text whose blanks carry meaning, such as a diff."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_name(char) if _hidden(char) else char for char in text)


def one_line(text: str, limit: int = TITLE_LENGTH) -> str:
    """A title: `escaped`, on one line, its middle left out when it is long, so that its end is always seen."""
    line = escaped(text).replace("\n", "⏎").replace("\t", " ")
    if len(line) <= limit:
        return line
    tail = limit // 2
    head = limit - tail
    return f"{line[:head]} …{len(line) - limit} more… {line[-tail:]}"


def hidden(text: str) -> tuple[str, ...]:
    """Names of the unseen characters in the text, each once, in order."""
    if text.isascii() and text.isprintable():
        return ()
    return tuple(dict.fromkeys(_name(char) for char in text if _hidden(char)))


def warning(text: str) -> str | None:
    """The sentence that goes with a card whose text holds unseen characters."""
    names = hidden(text)
    if not names:
        return None
    some = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    return f"Holds characters that would not be seen; they are shown by name: {some}."


def _hidden(char: str) -> bool:
    if char in _KEPT or " " <= char <= "~":
        return False
    category = unicodedata.category(char)
    if category in _UNSEEN or char in _BLANK_LETTERS:
        return True
    # Every space but the plain one, and variation selectors.
    return category == "Zs" or "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def _name(char: str) -> str:
    return f"⟨U+{ord(char):04X}⟩"


def _counted(blank: re.Match[str]) -> str:
    what = {" ": "spaces", "\t": "tabs", "\n": "line ends"}[blank[0][0]]
    return f" ⟨{len(blank[0])} {what}⟩ "
