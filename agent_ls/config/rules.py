"""Rule lists of a file, read into rules.

Owns the sentence on a rule that cannot be read and the warning on one that never fits. Does not own what a rule means
nor which one wins (core.rules, core.policy).
"""

from collections.abc import Iterable
from typing import Final

from agent_ls.config.names import meant, nearest
from agent_ls.core.errors import Refusal
from agent_ls.core.rules import Rule, Ruling, Scope, parse_rule

TOOLS: Final = frozenset(
    {"read", "write", "edit", "apply_patch", "glob", "grep", "shell", "shell_output", "shell_stop"}
    | {"diagnostics", "symbols", "references", "ask", "todo", "plan", "task", "fetch"}
)


def read_rules(texts: Iterable[str], verdict: Ruling, scope: Scope, *, origin: str) -> tuple[Rule, ...] | str:
    """The rules, or a sentence on the first that is none."""
    rules: list[Rule] = []
    for text in texts:
        rule = parse_rule(text, verdict, scope, origin=origin)
        if isinstance(rule, Refusal):
            return f"{rule.message} {rule.hint}".strip()
        rules.append(rule)
    return tuple(rules)


def rule_warnings(rules: Iterable[Rule], where: str) -> list[str]:
    """A rule for a tool that does not exist never fits, which a person who denied it has to know."""
    return [
        f"{where}: there is no tool `{rule.tool}`, so this rule never fits.{meant(nearest(rule.tool, TOOLS))}"
        for rule in rules
        if rule.tool not in TOOLS and not rule.tool.startswith("mcp__") and not rule.tool.endswith("*")
    ]
