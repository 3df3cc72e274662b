"""What an approval card offers: to allow once, and an "always" where it can be said in a literal rule.

Owns which rules may be stored by answering, and their text, which is shown before it is stored. Does not own whether a
call has to be asked for (policy.py).
"""

from collections.abc import Iterable
from typing import Final

from agent_ls.core.display import hidden
from agent_ls.core.policy import Proposal, narrowed, never, parts
from agent_ls.core.request import Decision, Option
from agent_ls.core.rules import Rule, Ruling
from agent_ls.core.sensitive import asks_to_read, asks_to_write, is_beneath
from agent_ls.core.shell_command import Argv, Unvouched, parse
from agent_ls.core.shell_programs import FAMILIES, never_always

ONCE: Final = Option(id="allow_once", label="Allow once", decision=Decision.ALLOW, scope="once")
DENY: Final = Option(id="deny", label="Deny", decision=Decision.DENY)


def offers(proposal: Proposal, rules: Iterable[Rule]) -> tuple[Option, ...]:
    """Each "always" with the rule that it would store."""
    known = tuple(rules)
    if (
        proposal.asks
        or narrowed(proposal, known, Ruling.ASK)
        or not proposal.trusted
        or never(proposal)
        or proposal.shared
    ):
        return ONCE, DENY
    rule = _literal(proposal)
    if rule is None:
        return ONCE, DENY
    family = None if proposal.command is None else _family(proposal.command)
    wider = () if family is None else (_always("conversation", family, prefix=True),)
    return ONCE, _always("conversation", rule), *wider, _always("workspace", rule), DENY


def _always(scope: str, rule: str, *, prefix: bool = False) -> Option:
    where = "for this conversation" if scope == "conversation" else "in this workspace"
    what = f" {rule.removeprefix('shell(').removesuffix(')')}" if prefix else ""
    name = f"allow_{scope}_prefix" if prefix else f"allow_{scope}"
    return Option(id=name, label=f"Allow{what} {where}", decision=Decision.ALLOW, scope=scope, rule=rule)


def _literal(proposal: Proposal) -> str | None:
    """The rule that an "always" would store: it allows exactly this and nothing else, or there is none."""
    if proposal.command is not None:
        return None if proposal.reads or proposal.writes else _literal_command(proposal.command)
    if proposal.host is not None:
        return f"{proposal.tool}({proposal.host})"
    touched = [part for part in parts(proposal) if part[0] == "edit"] or list(parts(proposal))
    if len(touched) != 1 or any(_looked_at(kind, path, proposal) for kind, path in parts(proposal)):
        return None
    kind, path = touched[0]
    if hidden(path) or set("*?\\\n\t") & set(path):
        return None
    beneath = "**" if path.endswith("/") else ""
    inside = is_beneath(path, proposal.root, fold=False) and path.rstrip("/") != proposal.root
    return f"{kind}({path[len(proposal.root.rstrip('/')) + 1 :] if inside else path}{beneath})"


def _looked_at(kind: str, path: str, proposal: Proposal) -> bool:
    found = asks_to_read if kind == "read" else asks_to_write
    return found(path, proposal.place) is not None


def _literal_command(script: str) -> str | None:
    words = parse(script)
    if isinstance(words, Unvouched) or len(words.commands) != 1 or hidden(script):
        return None
    if never_always(words.commands[0]) or script.rstrip().endswith(" *"):
        return None
    return f"shell({script.strip()})"


def _family(script: str) -> str | None:
    """The beginning of a command whose other words cannot make it run or write something else."""
    words = parse(script)
    if isinstance(words, Unvouched) or len(words.commands) != 1:
        return None
    beginning = _beginning(words.commands[0])
    return None if beginning is None else f"shell({' '.join(beginning)} *)"


def _beginning(argv: Argv) -> Argv | None:
    if argv[0] not in FAMILIES:
        return None
    verbs = FAMILIES[argv[0]]
    if not verbs:
        return argv[:1]
    return argv[:2] if len(argv) > 1 and argv[1] in verbs else None
