"""The `[providers.NAME]` tables of the person's file, completed from what is known of that name or kind.

Owns which address and key a configured provider gets, and why one cannot be used. A key that was not named for an
address is never sent there.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from agent_ls.config import checks
from agent_ls.config.checks import Wrong
from agent_ls.config.discover import address, not_built
from agent_ls.config.options import Options
from agent_ls.config.origin import UserFile
from agent_ls.config.providers import BUILT, KINDS, PRESETS, Preset, Provider, ProviderOptions
from agent_ls.config.secret import KEYRING_MISSING, CommandKey, EnvironmentKey, KeyringKey, KeySource

NEEDS_ADDRESS: Final = frozenset({"anthropic", "openai", "openai-compatible"})


def configured(options: Options, environ: Mapping[str, str]) -> list[Provider]:
    """In the order of the file. Adds warnings to `options`."""
    return [_provider(name, options, environ) for name in options.providers]


def _provider(name: str, options: Options, environ: Mapping[str, str]) -> Provider:
    given = options.providers[name]
    preset = _preset(name, given)
    kind = given.kind or (preset.kind if preset else "")
    usual_model = preset.model if preset and _at_home(given, preset) else None
    provider = Provider(
        name=name,
        kind=kind,
        base_url=given.base_url or (address(preset, environ) if preset else None),
        key=_key(name, preset, options),
        model=given.model or usual_model or ("demo" if kind == "demo" else None),
        context_window=given.context_window,
        headers=given.headers or {},
        command=given.command or (preset.argv if preset else ()),
        env=given.env or {},
        origin=UserFile(options.path, f"providers.{name}"),
    )
    if provider.key and (provider.base_url or "").startswith("http://") and not provider.is_local:
        options.warnings.append(
            f"Provider `{name}`: its key travels unencrypted; use an https address or a tunnel to loopback."
        )
    return replace(provider, problem=options.broken.get(name) or _problem(provider, environ))


def _preset(name: str, given: ProviderOptions) -> Preset | None:
    """What is known of this name, or of the kind where the kind is one service (`kind = "openai"`)."""
    by_name = PRESETS.get(name)
    if by_name is not None and given.kind in {None, by_name.kind}:
        return by_name
    return PRESETS.get(given.kind or "")


def _at_home(given: ProviderOptions, preset: Preset) -> bool:
    return given.base_url in {None, preset.base_url}


def _key(name: str, preset: Preset | None, options: Options) -> KeySource | None:
    given = options.providers[name]
    sources: list[KeySource] = []
    if given.api_key_env is not None:
        sources.append(EnvironmentKey(given.api_key_env))
    if given.api_key_command is not None:
        sources.append(CommandKey(given.api_key_command))
    if given.keyring is not None:
        sources.append(KeyringKey(given.keyring))
    if len(sources) > 1:
        options.warnings.append(
            f"Provider `{name}` has several keys; `api_key_env` comes before `api_key_command` and `keyring`."
        )
    if sources:
        return sources[0]
    return EnvironmentKey(preset.key_env) if preset and preset.key_env and _at_home(given, preset) else None


def _problem(provider: Provider, environ: Mapping[str, str]) -> str | None:
    if not provider.kind:
        return f"it needs a `kind`, one of {', '.join(KINDS)}."
    if provider.kind not in BUILT:
        return not_built(provider.kind)
    if provider.kind in NEEDS_ADDRESS and provider.base_url is None:
        return 'it needs a `base_url`, such as "http://127.0.0.1:9000/v1".'
    if provider.base_url is not None and isinstance(checked := checks.url(provider.base_url), Wrong):
        return f"its address should be {checked.expected}."
    match provider.key:
        case EnvironmentKey(name=name) if not environ.get(name, "").strip():
            return f"its key is missing: set {name} where the daemon starts, then run `agent-ls restart`."
        case KeyringKey():
            return KEYRING_MISSING
    return None if provider.model else "it needs a `model`."
