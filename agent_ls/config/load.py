"""From the person's file and the environment to settings.

Owns which value wins: environment, then file, then found, then default. Does not own checks (options) nor what can
be found (discover).
"""

import os
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from agent_ls import paths
from agent_ls.config.configured import configured
from agent_ls.config.discover import Probe, in_environment, local_servers
from agent_ls.config.document import Broken, read_document
from agent_ls.config.options import Options, read
from agent_ls.config.origin import Environment, Found, Origin, UserFile
from agent_ls.config.providers import DEMO, Provider
from agent_ls.config.settings import SECTIONS, Settings
from agent_ls.core.conversation import Mode

MODEL_VARIABLE = "AGENT_LS_MODEL"
NOTHING_RUNS = "Your rules stand in this file, so nothing is run until it can be read."


def load(
    environ: Mapping[str, str] = os.environ, *, probe: Probe | None = None, probe_always: bool = False
) -> Settings:
    """Raises ConfigError for a wrong value in [permissions]; a broken file gives settings with a `problem`.

    With a `probe`, local servers are looked for when nothing else could answer (`probe_always`: in any case).
    """
    options = _options(environ)
    providers = {each.name: each for each in (*configured(options, environ), *_not_configured(options, environ), DEMO)}
    settings = _with_default(_settings(options, providers), options)
    if probe is not None and (probe_always or (settings.provider is None and settings.problem is None)):
        found = {each.name: each for each in local_servers(probe) if each.name not in settings.providers}
        before_demo = {name: each for name, each in settings.providers.items() if each is not DEMO}
        everything = {**before_demo, **found, DEMO.name: settings.providers[DEMO.name]}
        settings = _with_default(replace(settings, providers=everything), options)
    return _with_model(settings, environ)


def _options(environ: Mapping[str, str]) -> Options:
    path = paths.config_path(environ)
    document = read_document(path)
    match document:
        case Broken(sentence=sentence):
            problem = f"{sentence} {NOTHING_RUNS}"
            return Options(path=path, problem=problem)
        case None:
            named = environ.get("AGENT_LS_CONFIG")
            missing = [f"AGENT_LS_CONFIG names {path}, which is not there; defaults are used."] if named else []
            return Options(path=path, warnings=missing)
        case _:
            return read(document, path)


def _not_configured(options: Options, environ: Mapping[str, str]) -> list[Provider]:
    return [each for each in in_environment(environ) if each.name not in options.providers]


def _settings(options: Options, providers: Mapping[str, Provider]) -> Settings:
    origins: dict[str, Origin] = {key: UserFile(options.path, key) for key in options.values}
    return Settings(
        path=options.path,
        mode=Mode(options.values.get("mode", Mode.ASK)),
        providers=providers,
        servers=tuple(options.servers),
        origins=origins,
        warnings=tuple(options.warnings),
        problem=options.problem,
        **{name: _section(name, section, options.values) for name, section in SECTIONS.items()},
    )


def _section(name: str, section: type, values: Mapping[str, Any]) -> Any:
    given = {each.name: f"{name}.{each.name}" for each in fields(section)}
    return section(**{field: values[key] for field, key in given.items() if key in values})


def _with_default(settings: Settings, options: Options) -> Settings:
    """The provider for new conversations: the one that the file names, else the first that could answer."""
    wanted = options.values.get("provider")
    if wanted in settings.providers:
        return replace(settings, provider=wanted)
    ready = (each for each in settings.providers.values() if each.kind != "demo" and each.problem is None)
    first = next(ready, None)
    origins = {key: origin for key, origin in settings.origins.items() if key != "provider"}
    if first is not None:
        origins["provider"] = Found(f"the first provider that is ready, {first.name}")
    warnings = list(options.warnings)
    if wanted is not None:
        instead = f"`{first.name}` is used" if first else "none is used"
        warnings.append(f"{settings.path}: there is no provider `{wanted}`; {instead} for new conversations.")
    name = None if first is None else first.name
    return replace(settings, provider=name, origins=origins, warnings=tuple(warnings))


def _with_model(settings: Settings, environ: Mapping[str, str]) -> Settings:
    model = environ.get(MODEL_VARIABLE, "").strip()
    if not model or settings.provider is None:
        return settings
    provider = replace(settings.providers[settings.provider], model=model)
    origins = {**settings.origins, f"providers.{provider.name}.model": Environment(MODEL_VARIABLE)}
    return replace(settings, providers={**settings.providers, provider.name: provider}, origins=origins)
