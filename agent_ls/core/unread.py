"""What a search may not look into: what `read` would be refused, or would have to ask for.

Owns that searching a folder is no way around a rule about a file in it. Patterns are regular expressions (as text, they
go to another process) that fit the whole of an absolute real path.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_ls.core.conversation import Mode
from agent_ls.core.rules import Ground, Rule, Ruling, path_regex, starts
from agent_ls.core.sensitive import secret_folders, secrets_regex


@dataclass(frozen=True)
class Unread:
    """`denied` counts for names as well; `asked` only for what files hold. In `folders` every file is one of those: it
    is under its other names as well."""

    denied: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def unread(rules: Sequence[Rule], place: Ground, mode: Mode) -> Unread:
    denied: list[str] = []
    asked = [] if mode is Mode.AUTO else [secrets_regex(fold=place.fold)]
    for rule in rules:
        pattern = path_regex(rule, "read", place)
        if pattern is not None and rule.narrows:
            (denied if rule.verdict is Ruling.DENY else asked).append(pattern)
    counts = [rule for rule in rules if rule.verdict is Ruling.DENY or mode is not Mode.AUTO]
    folders = (*starts(counts, place), *(() if mode is Mode.AUTO else secret_folders(place)))
    return Unread(tuple(denied), tuple(asked), tuple(dict.fromkeys(folders)))
