"""Providers as data: the known ones with their addresses, keys and models, and what is said of each configured one.

Owns the table of known providers and whether one could answer. Does not own talking to any (adapters), nor the order
in which files and environment are looked at (load, discover).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from agent_ls.config import checks
from agent_ls.config.checks import setting
from agent_ls.config.origin import Default, Origin
from agent_ls.config.secret import KeySource
from agent_ls.core.addresses import is_loopback

KINDS: Final = ("anthropic", "openai", "openai-compatible", "letta", "codex", "acp", "demo")
BUILT: Final = ("anthropic", "openai", "openai-compatible", "demo")
"""Kinds that this version can talk to; the others are recognised and said to be missing."""

OPENAI_URL: Final = "https://api.openai.com/v1"
ANTHROPIC_URL: Final = "https://api.anthropic.com"


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A provider that is known by its name. `base_url_env`: a variable by which other programs move it."""

    name: str
    kind: str
    base_url: str | None = None
    key_env: str | None = None
    base_url_env: str | None = None
    model: str | None = None
    program: str | None = None
    argv: tuple[str, ...] = ()


IN_ENVIRONMENT: Final = (
    Preset(
        name="anthropic",
        kind="anthropic",
        base_url=ANTHROPIC_URL,
        key_env="ANTHROPIC_API_KEY",
        base_url_env="ANTHROPIC_BASE_URL",
        model="claude-sonnet-4-5",
    ),
    Preset(
        name="openai",
        kind="openai",
        base_url=OPENAI_URL,
        key_env="OPENAI_API_KEY",
        base_url_env="OPENAI_BASE_URL",
        model="gpt-5",
    ),
    Preset(
        name="openrouter",
        kind="openai-compatible",
        base_url="https://openrouter.ai/api/v1",
        key_env="OPENROUTER_API_KEY",
        model="openrouter/auto",
    ),
    Preset(
        name="gemini",
        kind="openai-compatible",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key_env="GEMINI_API_KEY",
        model="gemini-2.5-pro",
    ),
    Preset(
        name="letta",
        kind="letta",
        base_url="https://api.letta.com",
        key_env="LETTA_API_KEY",
        base_url_env="LETTA_BASE_URL",
    ),
)
LOCAL: Final = (
    Preset(name="ollama", kind="openai-compatible", base_url="http://127.0.0.1:11434/v1"),
    Preset(name="lmstudio", kind="openai-compatible", base_url="http://127.0.0.1:1234/v1"),
    Preset(name="llamacpp", kind="openai-compatible", base_url="http://127.0.0.1:8080/v1"),
)
ON_PATH: Final = (
    Preset(name="codex", kind="codex", program="codex", argv=("codex", "app-server")),
    Preset(name="claude", kind="acp", program="claude"),
)
PRESETS: Final[Mapping[str, Preset]] = {each.name: each for each in (*IN_ENVIRONMENT, *LOCAL, *ON_PATH)}

WELL_KNOWN_SECRETS: Final = frozenset(each.key_env for each in IN_ENVIRONMENT if each.key_env) | {
    "ANTHROPIC_AUTH_TOKEN",
    "AZURE_OPENAI_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CODEX_API_KEY",
    "DEEPSEEK_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "TOGETHER_API_KEY",
    "XAI_API_KEY",
}


@dataclass(frozen=True, kw_only=True)
class ProviderOptions:
    """`[providers.NAME]` as written; None: not said."""

    kind: str | None = setting(checks.one_of(*KINDS))
    base_url: str | None = setting(checks.url)
    api_key_env: str | None = setting(checks.variable)
    api_key_command: tuple[str, ...] | None = setting(checks.command)
    keyring: str | None = setting(checks.text)
    model: str | None = setting(checks.text)
    context_window: int | None = setting(checks.count)
    headers: Mapping[str, str] | None = setting(checks.headers)
    command: tuple[str, ...] | None = setting(checks.argv)
    env: Mapping[str, str] | None = setting(checks.environment)


@dataclass(frozen=True, kw_only=True)
class Provider:
    """Something that can answer, or `problem`: a sentence on why it cannot.

    `headers` and `env` may hold keys of their own and are therefore not shown.
    """

    name: str
    kind: str
    base_url: str | None = None
    key: KeySource | None = None
    model: str | None = None
    context_window: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    command: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    origin: Origin = field(default_factory=Default)
    problem: str | None = None

    @property
    def is_local(self) -> bool:
        return self.base_url is not None and is_loopback(self.base_url)


DEMO: Final = Provider(name="demo", kind="demo", model="demo-1")
