"""What the daemon knows of each workspace: its environment, its rules.

Owns which variables a child process gets (those of the window that opened the workspace, never a provider's key) and
which rules hold there; and which values are secrets, in those or in the daemon's own. Files that came with a workspace
may only narrow.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from agent_ls.config.settings import Settings
from agent_ls.config.workspace import load_workspace
from agent_ls.core.conversation import Conversation
from agent_ls.core.kept_rules import origin, rule_of
from agent_ls.core.masking import Masking, holds_secret, secret_values
from agent_ls.core.rules import Rule, Ruling, Scope
from agent_ls.core.uris import path_of
from agent_ls.daemon.tool_servers import ToolServers
from agent_ls.ports.rules import RuleStore


class Workspaces:
    def __init__(self, settings: Settings, environ: Mapping[str, str], kept: RuleStore) -> None:
        self._settings = settings
        self._kept = kept
        self._secret = settings.secret_names()
        # Nobody chose it for a workspace: what may be a secret stays out, whatever it is called.
        self._own = {n: v for n, v in self._clean(environ).items() if not holds_secret(n, v)}
        self._environments: dict[str, dict[str, str]] = {}
        self._values = secret_values(environ, self._secret) | settings.secret_values()
        self.masking = Masking.of(self._values)
        self._servers = ToolServers(settings)
        self.tool_servers = self._servers.of

    def use(self, settings: Settings) -> None:
        """Rules and names of keys as they are now; a key that gets a name is taken from what is known already."""
        self._settings = settings
        self._servers.use(settings)
        self._secret |= settings.secret_names()
        self._own = self._clean(self._own)
        self._environments = {root: self._clean(known) for root, known in self._environments.items()}
        self._mask(settings.secret_values())

    def remember_environment(self, root: str, environment: Mapping[str, str]) -> None:
        self._environments[root.rstrip("/") or "/"] = self._clean(environment)
        self._mask(secret_values(environment, self._secret))

    def environment(self, root: str) -> Mapping[str, str]:
        """Of the window whose folder holds this root; before any window came, the daemon's own."""
        folder, below = root, ""
        while folder != below:
            if (found := self._environments.get(folder)) is not None:
                return found
            folder, below = os.path.dirname(folder), folder
        return self._own

    def rules(self, conversation: Conversation) -> Sequence[Rule]:
        return [*self.workspace_rules(path_of(conversation.workspace)), *_of_conversation(conversation)]

    def workspace_rules(self, root: str) -> Sequence[Rule]:
        own = [*self._settings.rules, *self._kept.rules(None)]
        return [*own, *self._shared(root), *self._kept.rules(root)] if root else own

    def _shared(self, root: str) -> Sequence[Rule]:
        options = load_workspace(Path(root))
        if options.problem is None:
            return options.rules
        # It may hold denials that nobody can read: nothing runs here until it can be read.
        return [Rule(Ruling.DENY, "*", Scope.WORKSPACE, options.problem)]

    def _mask(self, values: frozenset[str]) -> None:
        """Also what was a secret once."""
        if values - self._values:
            self._values |= values
            self.masking = Masking.of(self._values)

    def _clean(self, environ: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in environ.items() if name not in self._secret}


def _of_conversation(conversation: Conversation) -> Iterable[Rule]:
    for entry in conversation.rules:
        by = origin(str(entry.get("by") or "you"))
        rule = rule_of(entry, Scope.CONVERSATION, place=conversation.id, origin=by)
        # A denial that cannot be read any more must not be lost.
        yield rule or Rule(Ruling.ASK, "*", Scope.CONVERSATION, f"a rule {by} that cannot be read")
