"""Providers that are there without configuration: keys in the environment, programs on the PATH, local servers.

Owns the order in which they are found. Does not own touching the network: the caller hands in a probe.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from agent_ls.config import checks
from agent_ls.config.checks import Wrong
from agent_ls.config.origin import Environment, Found
from agent_ls.config.providers import BUILT, IN_ENVIRONMENT, LOCAL, ON_PATH, Preset, Provider
from agent_ls.config.secret import EnvironmentKey

Probe = Callable[[Sequence[str]], Mapping[str, tuple[str, ...]]]
"""Base URLs of local servers -> the models of those that answered. Blocking, with a short time limit of its own."""

NOT_FOR_CHAT: Final = ("embed", "rerank", "whisper")


def in_environment(environ: Mapping[str, str]) -> list[Provider]:
    """Key variables that are set, then programs on the PATH; no network."""
    keyed = [_keyed(preset, environ) for preset in IN_ENVIRONMENT if _is_set(preset, environ)]
    return [*keyed, *(_program(preset) for preset in ON_PATH if _on_path(preset, environ))]


def local_servers(probe: Probe) -> list[Provider]:
    """Local servers that answer, each with the first of its models that can chat."""
    answers = probe([preset.base_url for preset in LOCAL if preset.base_url])
    return [
        _local(preset, answers[preset.base_url])
        for preset in LOCAL
        if preset.base_url is not None and preset.base_url in answers
    ]


def address(preset: Preset, environ: Mapping[str, str]) -> str | None:
    """Where this provider is: as other programs of the person are told, else its usual address."""
    return environ.get(preset.base_url_env or "", "").strip().rstrip("/") or preset.base_url


def not_built(kind: str) -> str:
    *most, last = BUILT
    return f"kind `{kind}` is not built yet; this version talks to {', '.join(most)} and {last}."


def _is_set(preset: Preset, environ: Mapping[str, str]) -> bool:
    letta_server = preset.kind == "letta" and bool(environ.get(preset.base_url_env or ""))
    return bool(environ.get(preset.key_env or "", "").strip()) or letta_server


def _keyed(preset: Preset, environ: Mapping[str, str]) -> Provider:
    has_key = preset.key_env is not None and bool(environ.get(preset.key_env, "").strip())
    source = preset.key_env if has_key else preset.base_url_env
    assert source is not None
    return Provider(
        name=preset.name,
        kind=preset.kind,
        base_url=address(preset, environ),
        key=EnvironmentKey(preset.key_env) if has_key and preset.key_env else None,
        model=preset.model,
        origin=Environment(source),
        problem=_misplaced(preset, environ) if preset.kind in BUILT else not_built(preset.kind),
    )


def _misplaced(preset: Preset, environ: Mapping[str, str]) -> str | None:
    checked = checks.url(address(preset, environ))
    return f"{preset.base_url_env} should be {checked.expected}." if isinstance(checked, Wrong) else None


def _program(preset: Preset) -> Provider:
    return Provider(
        name=preset.name,
        kind=preset.kind,
        command=preset.argv,
        origin=Found(f"`{preset.program}` on the PATH"),
        problem=not_built(preset.kind),
    )


def _on_path(preset: Preset, environ: Mapping[str, str]) -> bool:
    return preset.program is not None and shutil.which(preset.program, path=environ.get("PATH", "")) is not None


def _local(preset: Preset, models: tuple[str, ...]) -> Provider:
    chat = [model for model in models if not any(word in model.lower() for word in NOT_FOR_CHAT)]
    return Provider(
        name=preset.name,
        kind=preset.kind,
        base_url=preset.base_url,
        model=chat[0] if chat else None,
        origin=Found(f"a server at {preset.base_url}"),
        problem=None if chat else "the server runs but offers no model; load one there first.",
    )
