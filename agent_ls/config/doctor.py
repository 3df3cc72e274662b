"""What `agent-ls doctor` says: where things are, what was found, what is missing, what to do next.

Owns the findings and their words. Does not own asking the machine (daemon.doctor hands in facts); it shows names of
keys, never keys. Works without a daemon (what one says comes in as a fact) and writes nothing.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Final

from agent_ls import paths
from agent_ls.config.origin import Origin, UserFile, describe
from agent_ls.config.providers import LOCAL, Provider
from agent_ls.config.running import RESTART, Running, difference, model_of, told
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
    `refused`: why settings could not be made (ConfigError); `running`: the daemon that is there, or why it does not
    say; `fresh`: the settings of one that is started now; `hooks`: moment, program, whether it is there;
    `mcp_missing`: the package that speaks to tool servers is not installed."""

    version: str
    python: str
    sqlite: str
    network: str | None = None
    silent: frozenset[str] = frozenset()
    ledger: str | Refusal | None = None
    refused: str | None = None
    running: Running | str | None = None
    fresh: Settings | None = None
    hooks: tuple[tuple[str, str, bool], ...] = ()
    mcp_missing: bool = False


@dataclass(frozen=True)
class Report:
    """`model`: what a message of now would be answered by, in the daemon that is there or in the next one."""

    lines: tuple[Line, ...]
    next_step: str | None
    model: str | None = None

    @property
    def healthy(self) -> bool:
        return not any(line.level is Level.PROBLEM for line in self.lines)

    def text(self) -> str:
        return "\n".join(_rendered(self))

    def as_data(self) -> dict[str, Any]:
        lines = [asdict(line) for line in self.lines]
        return {"healthy": self.healthy, "model": self.model, "lines": lines, "nextStep": self.next_step}


def report(settings: Settings, facts: Facts, environ: Mapping[str, str] = os.environ) -> Report:
    ready = settings.usable()
    running = facts.running if isinstance(facts.running, Running) else None
    lines = (
        Line("agent-ls", "version", facts.version),
        Line("agent-ls", "python", facts.python),
        Line("agent-ls", "sqlite", facts.sqlite),
        *_places(settings, facts, environ),
        *_configuration(settings, facts),
        *_providers(settings, facts.silent),
        _default(settings, ready, served=running is not None and running.model is not None),
        *_daemon(facts),
        *_hooks(facts),
        *_tool_servers(settings, facts),
        *_values(settings),
    )
    model = running.model if running else model_of(facts.fresh or settings)
    if facts.refused is not None:
        return Report(lines, "Correct the file; the daemon does not start before that.", model)
    return Report(lines, _next(ready, lines, model=model), model)


def _next(ready: Provider | Refusal, lines: tuple[Line, ...], *, model: str | None) -> str | None:
    if any(line.part == "daemon" and RESTART in line.text for line in lines):
        return "Run `agent-ls restart`: what runs goes on in the new daemon."
    return (ready.hint or None) if isinstance(ready, Refusal) and model is None else None


def _daemon(facts: Facts) -> Iterator[Line]:
    match facts.running:
        case None:
            yield Line("daemon", "running", "no; the first client starts one")
        case str(why):
            yield Line("daemon", "running", why, Level.WARNING)
        case Running() as running:
            for name, text in told(running):
                yield Line("daemon", name, text, Level.OK if name == "running" else Level.INFO)
            if facts.fresh is not None and (said := difference(running, facts.fresh)):
                yield Line("daemon", "differs", said, Level.WARNING)


def _hooks(facts: Facts) -> Iterator[Line]:
    for moment, program, found in facts.hooks:
        missing = "is not there, so this hook is ignored; correct it in config.toml"
        text = program if found else f"{program} {missing}"
        yield Line("hooks", moment, text, Level.OK if found else Level.WARNING)


def _tool_servers(settings: Settings, facts: Facts) -> Iterator[Line]:
    for server in settings.servers:
        missing = "The package `mcp` is missing, so none of its tools is offered; run `make install EXTRAS=mcp`."
        text = f"{mask(server.shown)}. {missing}" if facts.mcp_missing else mask(server.shown)
        yield Line("mcp", server.name, text, Level.WARNING if facts.mcp_missing else Level.OK)


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
    name = os.path.basename(settings.path)
    for warning in settings.warnings:
        if warning not in (settings.problem or ""):
            yield Line("configuration", "warning", warning.replace(settings.path, name), Level.WARNING)


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
    parts.append(f"from {_origin(provider.origin)}" if provider.kind != "demo" else None)
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


def _default(settings: Settings, ready: Provider | Refusal, *, served: bool) -> Line:
    """`served`: the daemon that is there has one all the same."""
    if isinstance(ready, Refusal):
        level = Level.WARNING if served and settings.problem is None else Level.PROBLEM
        return Line("new conversations", "provider", ready.message, level)
    model_origin = settings.origins.get(f"providers.{ready.name}.model", ready.origin)
    said = f"{ready.name} ({_origin(settings.origin('provider'))}), model {ready.model} ({_origin(model_origin)})"
    return Line("new conversations", "provider", said, Level.OK)


def _values(settings: Settings) -> Iterator[Line]:
    yield Line("settings", "mode", _shown(settings.mode, _origin(settings.origin("mode"))))
    for section in SECTIONS:
        values = getattr(settings, section)
        for each in fields(values):
            key = f"{section}.{each.name}"
            value = getattr(values, each.name)
            shown = without_login(value) if key == "ledger.url" else value
            yield Line("settings", key, _shown(shown, _origin(settings.origin(key))))


def _origin(origin: Origin) -> str:
    """The path of the file stands under `places`, once."""
    return os.path.basename(origin.path) if isinstance(origin, UserFile) else describe(origin)


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
