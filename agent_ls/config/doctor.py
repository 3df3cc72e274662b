"""What `agent-ls doctor` says: where things are, what was found, what is missing, what to do next.

Owns the findings and their words. Does not own asking the machine (daemon.doctor hands in facts); it shows names of
keys, never keys. Works without a daemon and writes nothing.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Final

from agent_ls import paths
from agent_ls.config.origin import describe
from agent_ls.config.providers import LOCAL, Provider
from agent_ls.config.secret import CommandKey, EnvironmentKey, KeyringKey, mask, without_login
from agent_ls.config.settings import SECTIONS, Settings
from agent_ls.core.errors import Refusal

ENVIRONMENT_READ: Final = ("AGENT_LS_STATE_DIR", "AGENT_LS_RUNTIME_DIR", "AGENT_LS_CONFIG", "AGENT_LS_LOG")


class Level(StrEnum):
    OK = "ok"
    INFO = "info"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Line:
    part: str
    name: str
    text: str
    level: Level = Level.INFO


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What was asked of the machine. `network`: type of the network file system that holds the state directory;
    `silent`: local base URLs where nothing listens; `ledger`: what its server says, where the ledger has one;
    `refused`: why settings could not be made (ConfigError)."""

    version: str
    python: str
    sqlite: str
    network: str | None = None
    silent: frozenset[str] = frozenset()
    ledger: str | Refusal | None = None
    refused: str | None = None


@dataclass(frozen=True)
class Report:
    lines: tuple[Line, ...]
    next_step: str | None

    @property
    def healthy(self) -> bool:
        return not any(line.level is Level.PROBLEM for line in self.lines)

    def text(self) -> str:
        return "\n".join(_rendered(self))

    def as_data(self) -> dict[str, Any]:
        return {"healthy": self.healthy, "lines": [asdict(line) for line in self.lines], "nextStep": self.next_step}


def report(settings: Settings, facts: Facts, environ: Mapping[str, str] = os.environ) -> Report:
    ready = settings.usable()
    lines = (
        Line("agent-ls", "version", facts.version),
        Line("agent-ls", "python", facts.python),
        Line("agent-ls", "sqlite", facts.sqlite),
        *_places(settings, facts, environ),
        *_configuration(settings, facts),
        *_providers(settings, facts.silent),
        _default(settings, ready),
        *_values(settings),
    )
    if facts.refused is not None:
        return Report(lines, "Correct the file; the daemon does not start before that.")
    return Report(lines, (ready.hint or None) if isinstance(ready, Refusal) else None)


def _places(settings: Settings, facts: Facts, environ: Mapping[str, str]) -> Iterator[Line]:
    state = paths.state_dir(environ)
    yield Line("places", "socket", paths.socket_path(environ))
    yield Line("places", "state", state)
    if facts.network is not None:
        advice = "the ledger needs a local disk: set AGENT_LS_STATE_DIR to a directory on one."
        yield Line("places", "state", f"is on a network file system ({facts.network}); {advice}", Level.WARNING)
    match facts.ledger:
        case Refusal(message=message, hint=hint):
            yield Line("places", "ledger", f"{message} {hint}".strip(), Level.PROBLEM)
        case str(said):
            yield Line("places", "ledger", said, Level.OK)
    if not _writable(state):
        advice = "cannot be written: set AGENT_LS_STATE_DIR to a directory of your own."
        yield Line("places", "state", advice, Level.PROBLEM)
    there = "" if os.path.lexists(settings.path) else " (not there; defaults are used)"
    yield Line("places", "configuration", settings.path + there)
    yield Line("places", "log", paths.log_path(environ))
    for name in ENVIRONMENT_READ:
        if environ.get(name):
            yield Line("places", name, environ[name])


def _configuration(settings: Settings, facts: Facts) -> Iterator[Line]:
    for sentence in dict.fromkeys((facts.refused, settings.problem)):
        if sentence is not None:
            yield Line("configuration", "refused", sentence, Level.PROBLEM)
    for warning in settings.warnings:
        if warning not in (settings.problem or ""):
            yield Line("configuration", "warning", warning, Level.WARNING)


def _providers(settings: Settings, silent: frozenset[str]) -> Iterator[Line]:
    for provider in settings.providers.values():
        down = provider.base_url in silent
        level = Level.OK if provider.problem is None and not down else Level.WARNING
        said = f"{_described(provider)}. Nothing listens there: start this server." if down else _described(provider)
        yield Line("providers", provider.name, said, level)
    absent = [each.name for each in LOCAL if each.name not in settings.providers]
    if absent:
        yield Line("providers", "not running", f"{', '.join(absent)} (looked for on loopback)")


def _described(provider: Provider) -> str:
    parts = [provider.kind, provider.base_url, f"model {provider.model}" if provider.model else None, _key(provider)]
    if provider.kind == "demo":
        parts = ["offline, scripted, no key; used only where it is named"]
    parts.append(f"from {describe(provider.origin)}" if provider.kind != "demo" else None)
    said = ", ".join(part for part in parts if part)
    return said if provider.problem is None else f"{said}. Not ready: {provider.problem}"


def _key(provider: Provider) -> str | None:
    match provider.key:
        case EnvironmentKey(name=name):
            missing = provider.problem is not None and "key is missing" in provider.problem
            return f"key {name} {'is not set' if missing else 'is set'}"
        case CommandKey():
            return "key from api_key_command"
        case KeyringKey():
            return "key from the keyring"
        case None:
            return "no key" if provider.is_local else None


def _default(settings: Settings, ready: Provider | Refusal) -> Line:
    if isinstance(ready, Refusal):
        return Line("new conversations", "provider", ready.message, Level.PROBLEM)
    model_origin = settings.origins.get(f"providers.{ready.name}.model", ready.origin)
    said = f"{ready.name} ({describe(settings.origin('provider'))}), model {ready.model} ({describe(model_origin)})"
    return Line("new conversations", "provider", said, Level.OK)


def _values(settings: Settings) -> Iterator[Line]:
    yield Line("settings", "mode", _shown(settings.mode, describe(settings.origin("mode"))))
    for section in SECTIONS:
        values = getattr(settings, section)
        for each in fields(values):
            key = f"{section}.{each.name}"
            value = getattr(values, each.name)
            shown = without_login(value) if key == "ledger.url" else value
            yield Line("settings", key, _shown(shown, describe(settings.origin(key))))


def _shown(value: object, origin: str) -> str:
    match value:
        case None:
            said = "none"
        case bool():
            said = "true" if value else "false"
        case float():
            said = f"{value:g}" if value < 1 else f"{value:.10g}"
        case tuple():
            said = ", ".join(map(str, value)) or "none"
        case _:
            said = str(value)
    return f"{mask(said)} ({origin})"


def _writable(path: str) -> bool:
    while not os.path.lexists(path):
        parent = os.path.dirname(path)
        if parent == path:
            return False
        path = parent
    return os.path.isdir(path) and os.access(path, os.W_OK | os.X_OK)


def _rendered(shown: Report) -> Iterator[str]:
    marks = {Level.OK: "✓", Level.INFO: " ", Level.WARNING: "!", Level.PROBLEM: "✗"}
    part = ""
    for line in shown.lines:
        if line.part != part:
            yield line.part if not part else f"\n{line.part}"
            part = line.part
        yield f"  {marks[line.level]} {line.name}: {line.text}"
    if shown.next_step is not None:
        yield f"\nnext\n  {shown.next_step}"
