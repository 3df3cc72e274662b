"""A configuration document as it was written: checked value by value, nothing filled in.

Owns unknown keys, wrong values and their sentences. Does not own defaults (settings) nor where the document came from.
A wrong value in [permissions] or of `ledger.url` is a ConfigError; elsewhere it is left out and said. A misspelt key of
[permissions] would drop rules in silence, so it is a `problem`: the daemon starts, nothing runs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agent_ls.config import checks
from agent_ls.config.checks import Check, Wrong, checks_of
from agent_ls.config.mcp import McpOptions, server_of
from agent_ls.config.names import meant, nearest
from agent_ls.config.providers import ProviderOptions
from agent_ls.config.rules import read_rules, rule_warnings
from agent_ls.config.settings import SECTIONS, ConfigError
from agent_ls.core.conversation import Mode
from agent_ls.core.rules import Ruling, Scope
from agent_ls.core.tool_server import ToolServer

TOP: Final[Mapping[str, Check]] = {"provider": checks.name, "mode": checks.one_of(*Mode)}
SERVER_KEYS: Final = frozenset(
    {"kind", "base_url", "api_key_env", "api_key_command", "keyring", "headers", "command", "env"}
)
"""Keys of a provider that decide to whom and as whom we talk: with a wrong one the provider is not used at all."""


NOT_WITHOUT_RULES: Final = "Correct it and start again; agent-ls does not run without your rules."
NOT_ANOTHER_LEDGER: Final = "Correct it and start again; agent-ls does not keep conversations in another place."


@dataclass(kw_only=True)
class Options:
    """`values` by dotted key (`http.idle_timeout_s`), `providers` by name; `broken`: why one is not used."""

    path: str
    values: dict[str, Any] = field(default_factory=dict)
    providers: dict[str, ProviderOptions] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    servers: list[ToolServer] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problem: str | None = None


def read(document: Mapping[str, Any], path: str) -> Options:
    """Raises ConfigError for a wrong value in [permissions] or of `ledger.url`."""
    options = Options(path=path)
    for key, value in document.items():
        if key in TOP:
            _take(options, key, value, check=TOP[key])
        elif key == "providers":
            _read_providers(options, value)
        elif key == "mcp":
            _read_servers(options, value)
        elif key in SECTIONS:
            _read_section(options, key, value)
        else:
            _unknown(options, "", key)
    return options


def _read_section(options: Options, section: str, value: Any) -> None:
    if not isinstance(value, dict):
        _wrong(options, section, Wrong("a table"))
        return
    known = checks_of(SECTIONS[section])
    for key, entry in value.items():
        if key in known:
            _take(options, f"{section}.{key}", entry, check=known[key])
        else:
            _unknown(options, section, key)


def _take(options: Options, key: str, value: Any, *, check: Check) -> None:
    checked = check(value)
    if isinstance(checked, Wrong):
        _wrong(options, key, checked)
        return
    options.values[key] = checked
    section, _, verdict = key.partition(".")
    if section == "permissions":
        _check_rules(options, checked, Ruling(verdict))


def _check_rules(options: Options, texts: tuple[str, ...], verdict: Ruling) -> None:
    where = f"{options.path}: `permissions.{verdict}`"
    rules = read_rules(texts, verdict, Scope.USER, origin=options.path)
    if isinstance(rules, str):
        raise ConfigError(f"{where}: {rules} {NOT_WITHOUT_RULES}")
    options.warnings += rule_warnings(rules, where)


def _wrong(options: Options, key: str, wrong: Wrong) -> None:
    if key.partition(".")[0] == "permissions":
        raise ConfigError(f"{options.path}: `{key}` should be {wrong.expected}. {NOT_WITHOUT_RULES}")
    if key == "ledger.url":
        raise ConfigError(f"{options.path}: `{key}` should be {wrong.expected}. {NOT_ANOTHER_LEDGER}")
    options.warnings.append(f"{options.path}: `{key}` should be {wrong.expected}; the default is used instead.")


def _read_providers(options: Options, value: Any) -> None:
    if not isinstance(value, dict):
        _wrong(options, "providers", Wrong("tables such as [providers.local]"))
        return
    for name, section in _tables(options, "providers", value):
        _read_provider(options, name, section)


def _tables(options: Options, key: str, value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The entries of `key` that have a name and are tables; the others are said."""
    for name, section in value.items() if isinstance(value, dict) else [("", None)]:
        if isinstance(checks.name(name), Wrong) or not isinstance(section, dict):
            expected = f"a table [{key}.NAME] with a name of letters, digits, `_`, `.` and `-`"
            options.warnings.append(f"{options.path}: each entry of `{key}` should be {expected}; one is left out.")
        else:
            yield name, section


def _read_provider(options: Options, name: str, section: Mapping[str, Any]) -> None:
    known = checks_of(ProviderOptions)
    taken: dict[str, Any] = {}
    for key, value in section.items():
        if key not in known:
            _unknown(options, f"providers.{name}", key)
            continue
        checked = known[key](value)
        if not isinstance(checked, Wrong):
            taken[key] = checked
        elif key in SERVER_KEYS:
            options.broken[name] = f"`providers.{name}.{key}` in {options.path} should be {checked.expected}."
            options.warnings.append(f"Provider `{name}` is not used: {options.broken[name]}")
        else:
            _wrong(options, f"providers.{name}.{key}", checked)
    options.providers[name] = ProviderOptions(**taken)


def _read_servers(options: Options, value: Any) -> None:
    """A server that is said wrongly is not used at all: it might be another program than was meant."""
    known = checks_of(McpOptions)
    for name, section in _tables(options, "mcp", value):
        for key in section.keys() - known.keys():
            _unknown(options, f"mcp.{name}", key)
        checked = {key: known[key](section[key]) for key in known.keys() & section.keys()}
        wrong = [f"`{key}` should be {entry.expected}" for key, entry in checked.items() if isinstance(entry, Wrong)]
        server = None if wrong else server_of(name, McpOptions(**checked), options.path)
        if isinstance(server, ToolServer):
            options.servers.append(server)
        elif wrong or server is not None:
            reason = f"{'; '.join(wrong)}." if wrong else server
            options.warnings.append(f"{options.path}: MCP server `{name}` is not used: {reason}")


def _unknown(options: Options, section: str, key: str) -> None:
    dotted = f"{section}.{key}" if section else key
    if section.startswith("providers.") and key in {"api_key", "key", "token"}:
        options.warnings.append(
            f"{options.path}: `{dotted}` is not read, as keys do not belong in this file. "
            "Put the key into an environment variable and name that in `api_key_env`."
        )
        return
    suggestion = _suggestion(section, key)
    hint = meant(suggestion) or f" Known here: {', '.join(_known_in(section))}."
    sentence = f"{options.path}: unknown key `{dotted if dotted.isprintable() else ascii(dotted)}`.{hint}"
    options.warnings.append(sentence)
    if section == "permissions" or suggestion == "permissions":
        options.problem = f"{sentence} Rules may be missing because of it, so nothing is run until it is corrected."


def _suggestion(section: str, key: str) -> str | None:
    here = _known_in(section)
    close = nearest(key, here)
    if close is not None:
        return f"{section}.{close}" if section else close
    everywhere = [f"{other}.{name}" for other, kind in SECTIONS.items() for name in checks_of(kind)]
    elsewhere = [dotted for dotted in (*TOP, *everywhere) if dotted.rpartition(".")[2] == key]
    if elsewhere:
        return elsewhere[0]
    return None if section else nearest(key, everywhere)


def _known_in(section: str) -> list[str]:
    if not section:
        return [*TOP, "providers", "mcp", *SECTIONS]
    named = {"providers": ProviderOptions, "mcp": McpOptions}
    return list(checks_of(named.get(section.partition(".")[0]) or SECTIONS[section]))
