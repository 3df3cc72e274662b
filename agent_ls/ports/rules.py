"""Rules that a person keeps for themselves or for a workspace, outside of every repository.

Implemented in adapters.host.rule_files. Rules of a conversation are in the ledger (core.kept_rules), those of a
configuration in its file.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agent_ls.core.errors import Refusal
from agent_ls.core.kept_rules import Kept
from agent_ls.core.rules import Rule


@dataclass(frozen=True)
class Said:
    """A client's command: the same `id` gives the same answer, for anything else than `what` it is refused."""

    id: str
    what: str


class RuleStore(Protocol):
    """`root`: a workspace's folder, or None for the person. All of it blocks, for a moment."""

    def rules(self, root: str | None) -> Sequence[Rule]:
        """As they are now. Where they cannot be read, one that denies everything: they may hold denials."""
        ...

    def add(self, root: str | None, kept: Kept, said: Said) -> dict[str, Any] | Refusal:
        """The rule as a client sees it."""
        ...

    def remove(self, rule_id: str, said: Said) -> dict[str, Any] | Refusal: ...
