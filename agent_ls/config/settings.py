"""What is configured, resolved: every section with its defaults, frozen, each value with its origin.

Owns the names, defaults and checks of all keys (the checks stand beside the fields). Does not own reading files
(load), finding providers (discover) nor policy: rules are texts here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from agent_ls.config import checks
from agent_ls.config.checks import setting
from agent_ls.config.origin import Default, Origin
from agent_ls.config.providers import WELL_KNOWN_SECRETS, Provider
from agent_ls.config.rules import read_rules
from agent_ls.config.secret import EnvironmentKey
from agent_ls.core.conversation import Mode
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.masking import written_values
from agent_ls.core.rules import Rule, Ruling, Scope
from agent_ls.core.tool_server import ToolServer


class ConfigError(Exception):
    """The daemon must not start with this file. The text is a sentence: file, key, what was expected."""


@dataclass(frozen=True, kw_only=True)
class Permissions:
    allow: tuple[str, ...] = setting(checks.rules, ())
    ask: tuple[str, ...] = setting(checks.rules, ())
    deny: tuple[str, ...] = setting(checks.rules, ())


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """`keep_days`: how long archived conversations are kept; None: for ever.

    `host`: what this machine is called where several share a ledger; None: by its own name.
    """

    url: str = setting(checks.ledger_url, "sqlite")
    claim_ttl_s: float = setting(checks.seconds, 30.0)
    host: str | None = setting(checks.text)
    keep_days: float | None = setting(checks.days)


@dataclass(frozen=True, kw_only=True)
class Http:
    connect_timeout_s: float = setting(checks.seconds, 10.0)
    first_byte_timeout_s: float = setting(checks.seconds, 60.0)
    idle_timeout_s: float = setting(checks.seconds, 90.0)
    pings_only_timeout_s: float = setting(checks.seconds, 900.0)


@dataclass(frozen=True, kw_only=True)
class Compaction:
    """`threshold`: share of the window at which it begins; None: the window less its reserve (context.md)."""

    enabled: bool = setting(checks.flag, True)
    threshold: float | None = setting(checks.share)
    keep_recent_tokens: int = setting(checks.count, 20_000)
    mode: str = setting(checks.one_of("sliding", "all"), "sliding")
    model: str | None = setting(checks.text)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """`retries_per_run`: None: as many as fit the trouble. Money: None: no limit."""

    steps_per_run: int = setting(checks.count, 200)
    minutes_per_run: float = setting(checks.minutes, 120.0)
    retries_per_run: int | None = setting(checks.amount)
    usd_per_run: float | None = setting(checks.dollars)
    usd_per_day: float | None = setting(checks.dollars)


@dataclass(frozen=True, kw_only=True)
class Daemon:
    idle_exit_s: float = setting(checks.seconds, 86_400.0)
    backing_idle_s: float = setting(checks.seconds, 1_800.0)


@dataclass(frozen=True, kw_only=True)
class Fetch:
    """`private`: hosts and networks off the public internet that the tool fetch may ask all the same."""

    private: tuple[str, ...] = setting(checks.hosts, ())


@dataclass(frozen=True, kw_only=True)
class Sandbox:
    """Commands walled off from all but their workspace. `writable`: folders beside it."""

    enabled: bool = setting(checks.flag, False)
    network: bool = setting(checks.flag, False)
    writable: tuple[str, ...] = setting(checks.folders, ())


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """A program and its arguments for each moment (core.hooks)."""

    session_start: tuple[str, ...] = setting(checks.argv, ())
    session_end: tuple[str, ...] = setting(checks.argv, ())
    prompt: tuple[str, ...] = setting(checks.argv, ())
    pre_tool: tuple[str, ...] = setting(checks.argv, ())
    post_tool: tuple[str, ...] = setting(checks.argv, ())
    request: tuple[str, ...] = setting(checks.argv, ())
    stop: tuple[str, ...] = setting(checks.argv, ())
    subagent_stop: tuple[str, ...] = setting(checks.argv, ())
    pre_compact: tuple[str, ...] = setting(checks.argv, ())
    notification: tuple[str, ...] = setting(checks.argv, ())


SECTIONS: Final[Mapping[str, type]] = {
    "permissions": Permissions,
    "ledger": Ledger,
    "http": Http,
    "compaction": Compaction,
    "limits": Limits,
    "daemon": Daemon,
    "fetch": Fetch,
    "sandbox": Sandbox,
    "hooks": Hooks,
}

LOOPBACK_FIRST_BYTE_S: Final = 600.0
"""A local model may be loading its weights."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """`problem`: the file could not be read, so its deny rules are unknown; the daemon starts but nothing may run.

    `provider` is the name for new conversations, None if there is none that could answer. `origins` holds the dotted
    keys that were set; whatever is not in it is a default.
    """

    path: str
    provider: str | None = None
    mode: Mode = Mode.ASK
    providers: Mapping[str, Provider] = field(default_factory=dict)
    servers: tuple[ToolServer, ...] = ()
    permissions: Permissions = Permissions()
    ledger: Ledger = Ledger()
    http: Http = Http()
    compaction: Compaction = Compaction()
    limits: Limits = Limits()
    daemon: Daemon = Daemon()
    fetch: Fetch = Fetch()
    sandbox: Sandbox = Sandbox()
    hooks: Hooks = Hooks()
    origins: Mapping[str, Origin] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def may_auto(self) -> bool:
        """The person's own configuration switched mode `auto` on."""
        return self.mode is Mode.AUTO

    def origin(self, key: str) -> Origin:
        return self.origins.get(key, Default())

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The person's own rules. They were checked when the file was read."""
        return tuple(
            rule
            for verdict in Ruling
            for rule in read_rules(getattr(self.permissions, verdict), verdict, Scope.USER, origin=self.path)
            if isinstance(rule, Rule)
        )

    def usable(self, name: str | None = None) -> Provider | Refusal:
        """The provider with this name (None: the one for new conversations), or why nothing can run on it."""
        if self.problem is not None:
            return Refusal(Code.PROVIDER_UNAVAILABLE, self.problem, CORRECT_THE_FILE)
        wanted = name or self.provider
        if wanted is None:
            return Refusal(Code.PROVIDER_UNAVAILABLE, _nothing_usable(self.providers), NEXT_STEP)
        provider = self.providers.get(wanted)
        if provider is None:
            known = ", ".join(self.providers)
            return Refusal(Code.PROVIDER_UNAVAILABLE, f"There is no provider `{wanted}`; known are: {known}.")
        if provider.problem is not None:
            return Refusal(Code.PROVIDER_UNAVAILABLE, f"Provider `{wanted}` cannot be used: {provider.problem}")
        return provider

    def first_byte_timeout_s(self, provider: Provider) -> float:
        """How long to wait for the first byte: longer on loopback unless the person set it."""
        if provider.is_local and "http.first_byte_timeout_s" not in self.origins:
            return LOOPBACK_FIRST_BYTE_S
        return self.http.first_byte_timeout_s

    def secret_values(self) -> frozenset[str]:
        """What headers and variables written in the file hold and nobody may see."""
        held = [each.headers for each in self.providers.values()]
        held += [table for server in self.servers for table in (server.headers, server.env)]
        return frozenset(value for table in held for value in written_values(table))

    def secret_names(self) -> frozenset[str]:
        """Environment variables that hold keys: removed from what child processes get, masked in logs."""
        named = {each.key.name for each in self.providers.values() if isinstance(each.key, EnvironmentKey)}
        return WELL_KNOWN_SECRETS | named


CORRECT_THE_FILE: Final = "Correct the file, then run `agent-ls restart`."
NEXT_STEP: Final = (
    "Set ANTHROPIC_API_KEY, OPENAI_API_KEY or another key, or name a server in config.toml, and run "
    "`agent-ls restart`; or start Ollama with a model, "
    "or try `agent-ls demo`, which needs neither."
)


def _nothing_usable(providers: Mapping[str, Provider]) -> str:
    reasons = [f"{each.name}: {each.problem}" for each in providers.values() if each.problem is not None]
    found = f" ({' '.join(reasons)})" if reasons else ""
    return f"No model provider is ready{found}."
