"""Patterns for file names as models and people write them: `**/*.py`, `src/{a,b}/*.[ch]`.

Owns their meaning for the search tools. `*` and `?` stay within a name, `**` crosses folders, a pattern without `/`
fits names in every folder. Patterns of rules are core.rules', those of .gitignore a library's.
"""

import re
from typing import Final

_WILD: Final = re.compile(r"[*?\[{]")


def regex_of(pattern: str) -> re.Pattern[str] | None:
    """For the whole of a path relative to where the search begins; None for brackets or braces that do not close."""
    pattern = pattern.removeprefix("./")
    if "/" not in pattern.rstrip("/"):
        pattern = f"**/{pattern}"
    made = _translate(pattern.lstrip("/"))
    try:
        return None if made is None else re.compile(made, re.DOTALL)
    except re.error:
        return None


def split(pattern: str) -> tuple[str, str]:
    """The folder that a pattern begins with, without wildcards, and the rest: `/a/b/**/*.py` is (`/a/b`, `**/*.py`)."""
    wild = _WILD.search(pattern)
    cut = pattern.rfind("/", 0, wild.start() if wild else len(pattern))
    return pattern[: max(cut, 1)] if cut >= 0 else "", pattern[cut + 1 :]


def names_hidden(pattern: str) -> bool:
    """Whether it asks for names that begin with a dot."""
    return any((part[:1] == "." and part.strip(".")) or part[:2] in {"{.", "[."} for part in pattern.split("/"))


def _translate(pattern: str) -> str | None:
    made, place, depth = "", 0, 0
    while place < len(pattern):
        sign = pattern[place]
        if pattern.startswith("**/", place) and (place == 0 or pattern[place - 1] == "/"):
            made, place = made + "(?:[^/]+/)*", place + 3
            continue
        if pattern.startswith("**", place):
            made, place = made + ".*", place + 2
            continue
        if sign == "[":
            end = pattern.find("]", place + 2)
            if end < 0:
                return None
            made, place = made + _set(pattern[place + 1 : end]), end + 1
            continue
        if sign == "\\" and place + 1 < len(pattern):
            made, place = made + re.escape(pattern[place + 1]), place + 2
            continue
        closes = sign == "}" and depth > 0
        made += _single(sign, inside=depth > 0)
        depth += (sign == "{") - closes
        place += 1
    return made if depth == 0 else None


def _single(sign: str, *, inside: bool) -> str:
    match sign:
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case "{":
            return "(?:"
        case "}" if inside:
            return ")"
        case "," if inside:
            return "|"
        case _:
            return re.escape(sign)


def _set(inner: str) -> str:
    negated = inner[:1] in {"!", "^"}
    body = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner[1:] if negated else inner)
    return f"(?!/)[{'^' if negated else ''}{body}]"
