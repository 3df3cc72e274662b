"""Rules that a person keeps by answering or by `agent-ls rules add`: what is stored of them, and how they are named.

Owns the shape and the id of a kept rule and the decisions about those of a conversation. Does not own rules of files
that a person writes (config) nor where rules of a person and a workspace lie (ports.rules).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from agent_ls.core.draft import Decision, Draft
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import ConversationFact
from agent_ls.core.ids import rule_id
from agent_ls.core.projection import ConversationState
from agent_ls.core.rules import Rule, Ruling, Scope, parse_rule

MOST: Final = 500


@dataclass(frozen=True, kw_only=True)
class Kept:
    """`by` and `at`: who kept it, and when."""

    effect: Ruling
    pattern: str
    by: str
    at: str = ""

    @property
    def entry(self) -> dict[str, Any]:
        return {"verdict": str(self.effect), "pattern": self.pattern, "by": self.by, "at": self.at}


def place_of(known: str) -> str:
    return known.rpartition(":")[0]


def rule_of(entry: Mapping[str, Any], scope: Scope, *, place: str, origin: str) -> Rule | None:
    """None for an entry that is not a rule."""
    effect, pattern = str(entry.get("verdict", "")), str(entry.get("pattern", ""))
    if effect not in set(Ruling):
        return None
    rule = parse_rule(pattern, Ruling(effect), scope, origin=origin)
    return None if isinstance(rule, Refusal) else replace(rule, id=rule_id(place, effect, pattern))


def checked(kept: Kept, scope: Scope) -> Kept | Refusal:
    """As it is stored: without blanks around it, or a sentence on why it is no rule."""
    rule = parse_rule(kept.pattern, kept.effect, scope, origin="what you wrote")
    return rule if isinstance(rule, Refusal) else replace(kept, pattern=rule.pattern)


def added(entries: Iterable[Mapping[str, Any]], kept: Kept) -> tuple[Mapping[str, Any], ...] | Refusal:
    """With this one, once."""
    known = tuple(entries)
    if any((entry.get("verdict"), entry.get("pattern")) == (str(kept.effect), kept.pattern) for entry in known):
        return known
    if len(known) >= MOST:
        return Refusal(Code.INVALID_PARAMS, f"There are {MOST} rules already.", "Remove some, or write wider ones.")
    return (*known, kept.entry)


def removed(entries: Iterable[Mapping[str, Any]], known: str) -> tuple[Mapping[str, Any], ...] | Refusal:
    before = tuple(entries)
    place = place_of(known)
    after = tuple(e for e in before if rule_id(place, str(e.get("verdict")), str(e.get("pattern"))) != known)
    return after if len(after) < len(before) else unknown(known)


def unknown(known: str) -> Refusal:
    return Refusal(Code.NOT_FOUND, f"There is no rule `{known}`.", "`agent-ls rules list` shows those that there are.")


def keep(state: ConversationState, kept: Kept, at: str) -> Decision | Refusal:
    """For this conversation, durably."""
    fitting = checked(replace(kept, at=at), Scope.CONVERSATION)
    if isinstance(fitting, Refusal):
        return fitting
    entries = added(state.conversation.rules, fitting)
    if isinstance(entries, Refusal):
        return entries
    draft = Draft(state, at)
    _put(draft, entries)
    return draft.done(**told(fitting, Scope.CONVERSATION, place=state.conversation.id, origin=origin(kept.by)))


def drop(state: ConversationState, known: str, at: str) -> Decision | Refusal:
    entries = removed(state.conversation.rules, known)
    if isinstance(entries, Refusal):
        return entries
    draft = Draft(state, at)
    _put(draft, entries)
    return draft.done()


def told(kept: Kept, scope: Scope, *, place: str, origin: str) -> dict[str, Any]:
    """A rule as a client sees it."""
    effect = str(kept.effect)
    known = rule_id(place, effect, kept.pattern)
    return {"id": known, "effect": effect, "rule": kept.pattern, "scope": str(scope), "origin": origin}


def origin(by: str) -> str:
    return f"kept by {by}"


def _put(draft: Draft, entries: Iterable[Mapping[str, Any]]) -> None:
    rules = tuple(dict(entry) for entry in entries)
    if rules != draft.conversation.rules:
        moved = replace(draft.conversation, rules=rules, updated_at=draft.at)
        draft.put(ConversationFact.UPDATED, moved)
