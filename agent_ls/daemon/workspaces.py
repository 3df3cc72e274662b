"""What the daemon knows of each workspace: its environment, its rules.

Owns which variables a child process gets (those of the window that opened the workspace, never a provider's key) and
which rules hold there; and which values are secrets, in those or in the daemon's own. Files that came with a workspace
may only narrow.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_ls.config.settings import Settings
from agent_ls.config.workspace import load_workspace
from agent_ls.core.conversation import Conversation
from agent_ls.core.masking import Masking, holds_secret, secret_values
from agent_ls.core.rules import Rule, Ruling, Scope
from agent_ls.core.uris import path_of
from agent_ls.daemon.tool_servers import ToolServers


class Workspaces:
    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._secret = settings.secret_names()
        # Nobody chose it for a workspace: what may be a secret stays out, whatever it is called.
        self._own = {n: v for n, v in self._clean(environ).items() if not holds_secret(n, v)}
        self._environments: dict[str, dict[str, str]] = {}
        self._values = secret_values(environ, self._secret)
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

    def remember_environment(self, root: str, environment: Mapping[str, str]) -> None:
        self._environments[root.rstrip("/") or "/"] = self._clean(environment)
        more = secret_values(environment, self._secret) - self._values
        if more:
            self._values |= more
            self.masking = Masking.of(self._values)

    def environment(self, root: str) -> Mapping[str, str]:
        """Of the window whose folder holds this root; before any window came, the daemon's own."""
        place = Path(root)
        for folder in (place, *place.parents):
            found = self._environments.get(str(folder))
            if found is not None:
                return found
        return self._own

    def rules(self, conversation: Conversation) -> Sequence[Rule]:
        kept = [_kept(rule) for rule in conversation.rules]
        return [*self.workspace_rules(path_of(conversation.workspace)), *kept]

    def workspace_rules(self, root: str) -> Sequence[Rule]:
        return [*self._settings.rules, *self._shared(root)] if root else self._settings.rules

    def _shared(self, root: str) -> Sequence[Rule]:
        options = load_workspace(Path(root))
        if options.problem is None:
            return options.rules
        # It may hold denials that nobody can read: nothing runs here until it can be read.
        return [Rule(Ruling.DENY, "*", Scope.WORKSPACE, options.problem)]

    def _clean(self, environ: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in environ.items() if name not in self._secret}


def _kept(rule: Mapping[str, Any]) -> Rule:
    by = rule.get("by") or "you"
    return Rule(Ruling.ALLOW, str(rule["pattern"]), Scope.CONVERSATION, f"allowed by {by}")
