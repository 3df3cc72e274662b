"""What a search may not look into: what `read` would be refused, or would have to ask for.

Owns that searching a folder is no way around a rule about a file in it. Patterns are regular expressions (as text, they
go to another process) that fit the whole of an absolute real path.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from agent_ls.core.conversation import Mode
from agent_ls.core.rules import Ground, Rule, Ruling, path_regex
from agent_ls.core.sensitive import secrets_regex


@dataclass(frozen=True)
class Unread:
    """`denied` counts for names as well; `asked` only for what files hold."""

    denied: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()


def unread(rules: Iterable[Rule], place: Ground, mode: Mode) -> Unread:
    denied: list[str] = []
    asked = [] if mode is Mode.AUTO else [secrets_regex(fold=place.fold)]
    for rule in rules:
        pattern = path_regex(rule, "read", place)
        if pattern is not None and rule.narrows:
            (denied if rule.verdict is Ruling.DENY else asked).append(pattern)
    return Unread(tuple(denied), tuple(asked))
