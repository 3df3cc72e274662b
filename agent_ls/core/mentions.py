"""Files and commands that a person writes into a message: `@src/a.py`, `@src/a.py:3-9`, a first word `/stop`.

Owns their form. Does not own which of them mean something: a name that is no file stays a word.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

MENTION: Final = re.compile(
    r"(?<![\w@`])@(?:\"(?P<quoted>[^\"\n]+)\"|(?P<path>[^\s@\"`:]+))(?::(?P<first>\d+)(?:-(?P<last>\d+))?)?"
)
_ORDER: Final = re.compile(r"/([a-z]+)(?:[ \t]+|\s*$)")
_END: Final = ".,;!?)]}'"


@dataclass(frozen=True)
class Mention:
    """`first` and `last` line, counted from 1, where some are named."""

    path: str
    first: int | None = None
    last: int | None = None

    @property
    def range(self) -> dict[str, Any] | None:
        """All of these lines; the last of them ends before the next begins."""
        if self.first is None:
            return None
        first, last = sorted((self.first, self.last or self.first))
        return {"start": {"line": max(0, first - 1), "character": 0}, "end": {"line": last, "character": 0}}

    def __str__(self) -> str:
        name = f'"{self.path}"' if re.search(r"[\s@\"`:]", self.path) else self.path
        if self.first is None:
            return f"@{name}"
        return f"@{name}:{self.first}" + (f"-{self.last}" if self.last not in {None, self.first} else "")


def mention_of(found: re.Match[str]) -> Mention:
    path = found["quoted"] or found["path"]
    if found["quoted"] is None and found["first"] is None:
        path = path.rstrip(_END) or path
    first, last = (int(number) if number else None for number in (found["first"], found["last"]))
    return Mention(path, first, last)


def mentions(text: str) -> list[Mention]:
    """Each once, in the order in which they are named."""
    return list(dict.fromkeys(mention_of(found) for found in MENTION.finditer(text)))


def order_in(text: str, known: frozenset[str]) -> tuple[str, str] | None:
    """(command, what follows it) of a text that begins with one of the known commands."""
    found = _ORDER.match(text)
    return (found[1], text[found.end() :].strip()) if found is not None and found[1] in known else None
