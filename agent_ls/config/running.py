"""A daemon that runs, beside what one that is started now would find: what `agent-ls doctor` says of the difference.

Owns the comparison and its words. Does not own asking the daemon (cli).
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from hashlib import sha256

from agent_ls.config.settings import SECTIONS, Settings
from agent_ls.core.errors import Refusal

RESTART = "`agent-ls restart` takes it over"


@dataclass(frozen=True, kw_only=True)
class Running:
    """As the daemon says. `since`: when it was started, as `3 min ago`; `model`: what new conversations are made with,
    None where nothing is ready; `providers` in words; `print` of its settings, empty where it tells none."""

    pid: int
    version: str
    since: str
    model: str | None
    providers: tuple[str, ...]
    print: str = ""


def fingerprint(settings: Settings) -> str:
    """Tells one state of the settings from another. Holds no key; headers and variables, which may be keys, are out."""
    shown = [replace(each, headers={}, env={}) for each in settings.providers.values()]
    values = [getattr(settings, section) for section in SECTIONS]
    parts = (settings.provider, str(settings.mode), settings.problem, shown, [_values(each) for each in values])
    return sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def model_of(settings: Settings) -> str | None:
    """What new conversations are made with."""
    ready = settings.usable()
    return None if isinstance(ready, Refusal) else f"{ready.name}, model {ready.model}"


def difference(running: Running, fresh: Settings) -> str | None:
    """What a daemon that is started now, from here, would do otherwise; None where nothing."""
    who = f"the daemon (pid {running.pid}, started {running.since})"
    here = model_of(fresh)
    if here is None and running.model is not None:
        return (
            f"{who} has {running.model}, which was not found from here: it was started with another environment. "
            "It goes on with that as long as it is not restarted from here"
        )
    if here != running.model:
        has = running.model or "no model"
        return f"{who} was started before this: it has {has}, not {here}; {RESTART}"
    if running.print and running.print != fingerprint(fresh):
        return f"{who} was started before this and holds other settings; {RESTART}"
    return None


def told(running: Running) -> Iterator[tuple[str, str]]:
    """(name, text) of each line about it."""
    yield "running", f"pid {running.pid}, version {running.version}, started {running.since}"
    yield "providers", "; ".join(running.providers) or "none"
    yield "new conversations", running.model or "no model is ready"


def _values(section: object) -> list[tuple[str, object]]:
    return [(each.name, getattr(section, each.name)) for each in fields(section)]  # type: ignore[arg-type]
