"""The known name that a misspelt one probably meant.

Owns that guess and its words. Does not own which names are known.
"""

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    from difflib import get_close_matches  # only needed when something is wrong

    close = get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return close[0] if close else None


def meant(suggestion: str | None) -> str:
    return f" Did you mean `{suggestion}`?" if suggestion else ""
