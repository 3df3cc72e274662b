"""A rule of the person or of an administrator: `tool(pattern)` and what it says.

Owns how a rule is written, read and matched. Does not own which rule wins (policy.py) nor where rules are kept.
A narrowing rule (ask, deny) is read widely and a widening one to the letter: no doubt may end in more being allowed.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from agent_ls.core.addresses import plain_host
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.shell_command import Argv, Unvouched, parse
from agent_ls.core.shell_programs import base, needs_exact, unwrapped


class Ruling(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Scope(StrEnum):
    """`workspace` is shared in the repository and can only narrow; `local` is the person's own for one workspace."""

    BUILTIN = "builtin"
    MANAGED = "managed"
    USER = "user"
    WORKSPACE = "workspace"
    LOCAL = "local"
    CONVERSATION = "conversation"


@dataclass(frozen=True)
class Rule:
    """`pattern` is the rule as written, `shell(git log *)`; `origin` is the file or the request it came from.

    `id`: of one that was kept by an answer or a command, and can be removed by it.
    """

    verdict: Ruling
    pattern: str
    scope: Scope
    origin: str
    id: str | None = None

    @property
    def tool(self) -> str:
        return self.pattern.partition("(")[0]

    @property
    def body(self) -> str | None:
        """What stands in the brackets; None for a rule about a whole tool."""
        _, bracket, rest = self.pattern.partition("(")
        return rest[:-1] if bracket else None

    @property
    def narrows(self) -> bool:
        return self.verdict is not Ruling.ALLOW

    @property
    def exact(self) -> bool:
        """Names one thing only."""
        return self.body is not None and not re.search(r"[*?]", self.body)

    def __str__(self) -> str:
        return f"{self.scope}: {self.verdict} {self.pattern} ({self.origin})"


@dataclass(frozen=True)
class Ground:
    """Where patterns start, as real paths. `fold`: the volume takes `A` and `a` for the same name."""

    root: str
    home: str
    fold: bool = False


_SHAPE: Final = re.compile(r"[A-Za-z_][\w.-]*\*?(?:\(.+\))?", re.DOTALL)
_HOST: Final = re.compile(r"\*|(?:\*\.)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?|[0-9A-Fa-f:.]+")
_PATH_TOOLS: Final = frozenset({"read", "edit", "write"})


def parse_rule(text: str, verdict: Ruling, scope: Scope, *, origin: str) -> Rule | Refusal:
    """The rule, or a sentence on what is wrong with it."""
    text = text.strip()
    if not _SHAPE.fullmatch(text):
        return _refused(f"`{text}` is not a rule.", "Write it as `tool(pattern)`, for example `shell(git log *)`.")
    rule = Rule(verdict, text, scope, origin)
    if scope is Scope.WORKSPACE and not rule.narrows:
        return _refused(
            f"`{text}` in {origin} would allow something, and a workspace's file may only narrow.",
            "Put it into your own config.toml, or answer a request with `Allow in this workspace`.",
        )
    if rule.tool == "shell" and rule.body is not None and not rule.narrows:
        words = parse(_prefix(rule.body) or rule.body)
        if isinstance(words, Unvouched) or len(words.commands) != 1:
            reason = words.reason if isinstance(words, Unvouched) else "is more than one command"
            return _refused(
                f"`{text}` can never allow anything: the command {reason}.",
                "Name one plain command, with ` *` after it where more words may follow.",
            )
    if rule.tool == "fetch" and rule.body is not None and not _HOST.fullmatch(rule.body):
        return _refused(
            f"`{text}` names no host.", "Write the host alone: `fetch(python.org)` or `fetch(*.python.org)`."
        )
    if rule.tool in _PATH_TOOLS and rule.body is not None and ".." in rule.body.split("/"):
        return _refused(f"`{text}` holds `..`.", "Write the path from the workspace's folder, from `~/` or from `/`.")
    return rule


def matches_command(rule: Rule, argv: Argv) -> bool:
    """For one simple command, word by word."""
    if not _names(rule, "shell"):
        return False
    if rule.body is None or rule.body == "*":
        return rule.narrows or not needs_exact(argv)
    if rule.narrows:
        return any(_fits(rule.body, words, wide=True) for words in unwrapped(argv))
    return _fits(rule.body, argv, wide=False)


def matches_path(rule: Rule, kind: str, path: str, *, place: Ground) -> bool:
    """`kind` is `read` or `edit`, whichever tool does it."""
    if not _names(rule, kind):
        return False
    if rule.body is None:
        return True
    return bool(_regex(rule.body, place, wide=rule.narrows).fullmatch(path))


def path_regex(rule: Rule, kind: str, place: Ground) -> str | None:
    """What `matches_path` fits, as text; None where the rule does not speak of such paths."""
    if not _names(rule, kind):
        return None
    if rule.body is None:
        return "(?s:.*)"
    flags = "is" if place.fold else "s"
    return f"(?{flags}:{_regex(rule.body, place, wide=rule.narrows).pattern})"


def matches_host(rule: Rule, tool: str, host: str) -> bool:
    """For a tool that asks a host. `*.example.org` stands for all beneath it; a narrowing rule for those as well."""
    if not _names(rule, tool):
        return False
    if rule.body is None or rule.body == "*":
        return True
    named = plain_host(rule.body)
    above = named.removeprefix("*.")
    beneath = host.endswith(f".{above}") and (rule.narrows or named != above)
    return beneath or host == (above if rule.narrows else named)


def starts(rules: Iterable[Rule], place: Ground) -> tuple[str, ...]:
    """Where the narrowing rules about paths begin, as far as they name something: `secret/**` is about `secret`."""
    found = []
    for rule in rules:
        if not rule.narrows or rule.body is None or rule.tool not in _PATH_TOOLS:
            continue
        start, rest = _anchor(rule.body, place)
        named = re.split(r"[*?]", rest, maxsplit=1)[0]
        named = named.rpartition("/")[0] if named != rest else named
        if named.strip("/"):
            found.append(f"{start.rstrip('/')}/{named.strip('/')}")
    return tuple(found)


def matches_tool(rule: Rule, tool: str) -> bool:
    """For tools whose input no pattern is matched with: a rule on a part of them narrows all of it."""
    return _names(rule, tool) and (rule.body is None or rule.body == "*" or rule.narrows)


def _names(rule: Rule, tool: str) -> bool:
    if rule.tool.endswith("*"):
        return tool.startswith(rule.tool[:-1])
    # A rule about the tool `write` speaks of edits as well.
    return rule.tool == tool or (rule.tool == "write" and tool == "edit" and rule.narrows)


def _prefix(body: str) -> str | None:
    """`git log *` -> `git log`. A star anywhere else, quoted ones included, is itself."""
    return body[:-2].rstrip() if body.endswith(" *") else None


def _fits(body: str, argv: Argv, *, wide: bool) -> bool:
    prefix = _prefix(body)
    wanted = _argv(prefix or body)
    if wide:
        argv, wanted = (base(argv[0]), *argv[1:]), (base(wanted[0]), *wanted[1:]) if wanted else ()
    if not wanted:
        return False
    if prefix is None:
        return argv == wanted
    # A flag that runs or writes something is not covered by a rule that never named it.
    if not wide and argv != wanted and needs_exact(argv):
        return False
    return argv[: len(wanted)] == wanted


@lru_cache(maxsize=512)
def _argv(body: str) -> Argv:
    words = parse(body)
    if not isinstance(words, Unvouched):
        return words.commands[0] if len(words.commands) == 1 else ()
    # Only narrowing rules get here: they are matched with what was seen.
    return words.seen[0] if words.seen else ()


@lru_cache(maxsize=512)
def _regex(body: str, place: Ground, *, wide: bool) -> re.Pattern[str]:
    start, rest = _anchor(body, place)
    if wide and not body.startswith(("~/", "/")) and ("/" not in rest.rstrip("/") or rest.startswith("**/")):
        start, rest = "", f"**/{rest}"
    beneath = "(?:/.*)?" if wide else ""
    flags = re.DOTALL | (re.IGNORECASE if place.fold else 0)
    return re.compile(re.escape(start.rstrip("/")) + "/" + _glob(rest.rstrip("/")) + beneath, flags)


def _anchor(body: str, place: Ground) -> tuple[str, str]:
    if body.startswith("~/"):
        return place.home, body[2:]
    return ("", body[1:]) if body.startswith("/") else (place.root, body.removeprefix("./"))


def _glob(pattern: str) -> str:
    pattern = re.sub(r"(?:\*\*/)+", "**/", pattern)
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    meaning = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(meaning.get(part, re.escape(part)) for part in parts)


def _refused(message: str, hint: str) -> Refusal:
    return Refusal(Code.INVALID_PARAMS, message, hint)
