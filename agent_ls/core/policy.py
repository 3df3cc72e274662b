"""May this call run, must a person be asked, or is it refused: the one place that decides.

Owns the order of rules (deny beats ask beats allow, across all scopes) and what is built in. Does not own how a command
is read (shell_command.py), which commands only look (harmless.py), how a rule is matched (rules.py), what a card may
offer (offers.py) or who is asked. The verdict names the rule that decided, so that it can be explained.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from agent_ls.core.conversation import Mode
from agent_ls.core.harmless import Seen
from agent_ls.core.harmless_table import Sight
from agent_ls.core.rules import (
    Ground,
    Rule,
    Ruling,
    Scope,
    matches_command,
    matches_host,
    matches_path,
    matches_tool,
    parse_rule,
)
from agent_ls.core.sensitive import asks_to_read, asks_to_write, is_beneath, never_written
from agent_ls.core.shell_command import Argv, Unvouched, Vouched, parse
from agent_ls.core.tool_effect import ToolEffect

__all__ = ["Proposal", "Rule", "Ruling", "Scope", "Verdict", "judge", "parse_rule"]


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A call that could run. `command` is a shell's script, `host` whom it asks on the network; `asks` names what no
    rule lets it do unasked.

    All paths are absolute and real; one that ends with `/` stands for all that is beneath it. `protected` are the
    daemon's own: state, runtime and configuration. `shared`: what is written has other hard links. `unsure`: a guarded
    folder in which a file with other hard links may lie, and which is too large to be looked through. `sights` are
    what each simple command of a script looks at, None for one that is not known to do no more than look. `brought`
    are names of programs that the workspace has taken: they are not what a rule means that was not made there.
    """

    tool: str
    effect: ToolEffect
    root: str
    home: str
    mode: Mode
    command: str | None = None
    host: str | None = None
    asks: str | None = None
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    trusted: bool = True
    protected: tuple[str, ...] = ()
    fold: bool = False
    shared: bool = False
    unsure: str | None = None
    sights: tuple[tuple[Seen, ...] | None, ...] = ()
    brought: tuple[str, ...] = ()

    @property
    def place(self) -> Ground:
        return Ground(self.root, self.home, self.fold)


@dataclass(frozen=True)
class Verdict:
    """`rule` says which rule decided and where it came from; `reason` is a sentence."""

    kind: Ruling
    rule: str
    reason: str


def judge(proposal: Proposal, rules: Iterable[Rule]) -> Verdict:
    """The strictest word that anything has to say."""
    # A workspace's file may only narrow, whoever read it.
    known = tuple(rule for rule in rules if rule.narrows or rule.scope is not Scope.WORKSPACE)
    return (
        never(proposal)
        or narrowed(proposal, known, Ruling.DENY)
        or _only_reads(proposal)
        or narrowed(proposal, known, Ruling.ASK)
        or _asked(proposal)
        or _doubted(proposal, known)
        or _widened(proposal, known)
    )


def never(proposal: Proposal) -> Verdict | None:
    for path in proposal.writes:
        if what := never_written(path, proposal.place, proposal.protected):
            return Verdict(Ruling.DENY, f"built-in: never write {what}", f"`{path}` belongs to {what}.")
    return None


def _only_reads(proposal: Proposal) -> Verdict | None:
    if proposal.effect in _HARMLESS:
        return None
    if not proposal.trusted:
        return Verdict(
            Ruling.DENY,
            "built-in: an untrusted workspace is read-only",
            "This workspace is not trusted, so nothing in it is changed or started.",
        )
    if proposal.mode is Mode.PLAN:
        return Verdict(
            Ruling.DENY,
            "built-in: mode plan only reads",
            "The conversation is in mode `plan`: read what is needed and propose a plan, change nothing.",
        )
    return None


def narrowed(proposal: Proposal, rules: tuple[Rule, ...], ruling: Ruling) -> Verdict | None:
    rule = next((rule for rule in rules if rule.verdict is ruling and _speaks_of(rule, proposal)), None)
    if rule is None:
        return None
    says = "denies it" if ruling is Ruling.DENY else "asks for it"
    return Verdict(ruling, str(rule), f"The rule `{rule.pattern}` {says}.")


def _asked(proposal: Proposal) -> Verdict | None:
    if proposal.asks is None:
        return None
    return Verdict(
        Ruling.ASK, f"built-in: {proposal.asks} are asked for", f"{proposal.asks.capitalize()} are asked for."
    )


def _doubted(proposal: Proposal, rules: tuple[Rule, ...]) -> Verdict | None:
    """What no allow rule can lift: a script that cannot be read for sure, a file that should be looked at first."""
    if proposal.command is not None and isinstance(words := parse(proposal.command), Unvouched):
        narrowing = any(rule.narrows and rule.tool in {"shell", "*"} for rule in rules)
        # In mode auto the script may run, unless a rule of the person might have meant it.
        if proposal.mode is not Mode.AUTO or narrowing:
            return Verdict(
                Ruling.ASK,
                "built-in: commands that nobody can vouch for",
                f"The command {words.reason}, so no rule can allow it.",
            )
    if proposal.mode is Mode.AUTO:
        return None
    if proposal.shared:
        reason = "It has other hard links, and a change shows in all of them, wherever they are."
        return Verdict(Ruling.ASK, "built-in: files with other hard links are asked for", reason)
    if proposal.unsure is not None:
        reason = f"It has other hard links, and one of them may lie in `{proposal.unsure}`, which is guarded."
        return Verdict(Ruling.ASK, "built-in: files with other hard links are asked for", reason)
    for kind, path in parts(proposal):
        found = asks_to_read if kind == "read" else asks_to_write
        what = found(path, proposal.place)
        if what and not any(rule.exact and _allows_path(rule, kind, path, proposal=proposal) for rule in rules):
            return Verdict(Ruling.ASK, f"built-in: {what} are asked for", f"`{path}` is one of {what}.")
    return None


def _widened(proposal: Proposal, rules: tuple[Rule, ...]) -> Verdict:
    """Every part has to be allowed, by what is built in or by a rule."""
    if proposal.mode is Mode.AUTO and (proposal.trusted or proposal.effect == ToolEffect.READ):
        return Verdict(Ruling.ALLOW, "built-in: mode auto", "The conversation is in mode `auto`.")
    grounds: list[str] = []
    for verdict in _each(proposal, rules):
        if verdict.kind is not Ruling.ALLOW:
            return verdict
        grounds.append(verdict.rule)
    return Verdict(Ruling.ALLOW, "; ".join(dict.fromkeys(grounds)), "Every part of it is allowed.")


def _each(proposal: Proposal, rules: tuple[Rule, ...]) -> Iterable[Verdict]:
    for kind, path in parts(proposal):
        yield _path(kind, path, proposal, rules=rules)
    if proposal.command is not None:
        for place, argv in enumerate(_commands(proposal.command)):
            yield _command(argv, proposal, rules, seen=_at(proposal.sights, place))
    elif proposal.host is not None:
        yield _granted(
            next((rule for rule in rules if _allows_host(rule, proposal)), None), f"calls of {proposal.tool}"
        )
    elif proposal.effect == ToolEffect.READ and not proposal.reads:
        yield Verdict(Ruling.ALLOW, "built-in: reads in the workspace", "It only reads.")
    elif proposal.effect == ToolEffect.OWN:
        yield Verdict(Ruling.ALLOW, "built-in: the agent may end what it began", "It ends what the agent itself began.")
    elif proposal.effect == ToolEffect.DELEGATE:
        yield Verdict(
            Ruling.ALLOW, "built-in: subagents (each of their calls is judged)", "What it does is judged call by call."
        )
    elif not proposal.reads and not proposal.writes:
        yield _granted(
            next((rule for rule in rules if not rule.narrows and matches_tool(rule, proposal.tool)), None),
            f"calls of {proposal.tool}",
        )


def _command(argv: Argv, proposal: Proposal, rules: tuple[Rule, ...], *, seen: tuple[Seen, ...] | None) -> Verdict:
    meant = rules if argv[0] not in proposal.brought else tuple(rule for rule in rules if rule.scope in _MADE_HERE)
    allowing = sorted((rule for rule in meant if _allows(rule, argv)), key=lambda rule: not rule.exact)
    rule = allowing[0] if allowing else None
    secret = next((one for one in seen or () if _holds_secrets(one, proposal)), None)
    if secret is not None and (rule is None or not rule.exact):
        what = asks_to_read(secret.path, proposal.place) or "secrets"
        return Verdict(Ruling.ASK, f"built-in: {what} are asked for", f"`{secret.path}` is one of {what}.")
    if rule is None and argv[0] in proposal.brought:
        own = f"`{argv[0]}` is a program of the workspace here."
        return Verdict(Ruling.ASK, "built-in: programs that a workspace brings are asked for", own)
    if rule is not None or seen is None:
        return _granted(rule, "commands")
    return _harmless(argv[0], proposal, rules, seen=seen)


def _harmless(program: str, proposal: Proposal, rules: tuple[Rule, ...], *, seen: tuple[Seen, ...]) -> Verdict:
    """A command of the table runs if it looks at nothing that `read` would have to ask for."""
    outside = next((s for s in seen if not is_beneath(s.path, proposal.root, fold=proposal.fold)), None)
    if outside is not None:
        return Verdict(
            Ruling.ASK, "built-in: reads outside the workspace are asked for", f"It looks at `{outside.path}`."
        )
    guarded = any(rule.narrows and rule.verdict is Ruling.DENY and rule.tool in {"read", "*"} for rule in rules)
    if guarded and any(s.folder and s.sight is not Sight.CONTENT for s in seen):
        return Verdict(
            Ruling.ASK, "built-in: lists of names are asked for where a rule denies reads", "It could name them."
        )
    if any(s.folder and s.sight is Sight.CONTENT for s in seen):
        return Verdict(
            Ruling.ASK, "built-in: reads of whole folders by a command are asked for", "It may read all files there."
        )
    return Verdict(
        Ruling.ALLOW,
        f"built-in: `{program}` only looks (table of harmless commands)",
        "It only looks, in the workspace.",
    )


def _holds_secrets(one: Seen, proposal: Proposal) -> bool:
    return one.sight is Sight.CONTENT and asks_to_read(one.path, proposal.place) is not None


def _at(sights: tuple[tuple[Seen, ...] | None, ...], place: int) -> tuple[Seen, ...] | None:
    return sights[place] if place < len(sights) else None


def _path(kind: str, path: str, proposal: Proposal, *, rules: tuple[Rule, ...]) -> Verdict:
    inside = is_beneath(path, proposal.root, fold=proposal.fold)
    if inside and kind == "read":
        return Verdict(Ruling.ALLOW, "built-in: reads in the workspace", "It only reads the workspace.")
    if inside and proposal.mode is Mode.EDITS:
        return Verdict(Ruling.ALLOW, "built-in: edits in the workspace (mode edits)", "It edits the workspace.")
    where = "" if inside else " outside the workspace"
    rule = next((rule for rule in rules if _allows_path(rule, kind, path, proposal=proposal)), None)
    return _granted(rule, f"{kind}s{where}")


def _granted(rule: Rule | None, what: str) -> Verdict:
    if rule is None:
        return Verdict(Ruling.ASK, f"built-in: {what} are asked for", "No rule allows it.")
    return Verdict(Ruling.ALLOW, str(rule), f"The rule `{rule.pattern}` allows it.")


def parts(proposal: Proposal) -> Iterable[tuple[str, str]]:
    yield from (("read", path) for path in proposal.reads)
    yield from (("edit", path) for path in proposal.writes)


def _commands(script: str) -> tuple[Argv, ...]:
    words = parse(script)
    return words.commands if isinstance(words, Vouched) else words.seen


def _allows(rule: Rule, argv: Argv) -> bool:
    return not rule.narrows and matches_command(rule, argv)


def _allows_path(rule: Rule, kind: str, path: str, *, proposal: Proposal) -> bool:
    return not rule.narrows and matches_path(rule, kind, path, place=proposal.place)


def _allows_host(rule: Rule, proposal: Proposal) -> bool:
    return not rule.narrows and matches_host(rule, proposal.tool, proposal.host or "")


def _speaks_of(rule: Rule, proposal: Proposal) -> bool:
    """A narrowing rule counts if it fits any part."""
    if any(matches_path(rule, kind, path, place=proposal.place) for kind, path in parts(proposal)):
        return True
    if proposal.command is not None:
        looked_at = (one.path for seen in proposal.sights for one in seen or ())
        return any(matches_path(rule, "read", path, place=proposal.place) for path in looked_at) or any(
            matches_command(rule, argv) for argv in _commands(proposal.command)
        )
    if proposal.host is not None:
        return matches_host(rule, proposal.tool, proposal.host)
    if rule.tool in _BY_PART:
        return rule.body is None and rule.tool == proposal.tool
    return matches_tool(rule, proposal.tool)


_HARMLESS: Final = frozenset({ToolEffect.READ, ToolEffect.DELEGATE})
_MADE_HERE: Final = frozenset({Scope.LOCAL, Scope.CONVERSATION})
_BY_PART: Final = frozenset({"read", "edit", "write", "shell"})
