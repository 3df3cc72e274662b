"""Fenced blocks of Markdown: what stands in one is no heading and no link.

Owns where they begin and end, the same for whoever writes a document and whoever reads it back.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

_MARK: Final = re.compile(r"(?:> )?(`{3,}|~{3,})(.*)")


def fenced(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each line without its end, and the mark of the block that it stands in, its first and last line included."""
    inside = ""
    for given in lines:
        line = given.rstrip("\r\n")
        found = _MARK.match(line)
        if not inside:
            inside = found[1] if found is not None else ""
            yield line, inside
        else:
            yield line, inside
            if found is not None and found[1].startswith(inside) and not found[2].strip():
                inside = ""


def closed(text: str) -> str:
    """With an end for a block that has none, so that what follows the text does not stand in it."""
    *_, (_, inside) = fenced([*text.split("\n"), ""])
    return f"{text}\n{inside}" if inside else text
