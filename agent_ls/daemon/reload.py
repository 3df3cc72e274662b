"""Reading the configuration again while the daemon runs (SIGHUP).

Owns that all of a new configuration holds from one moment on, or none of it, and what is said of one that cannot be
read. Does not own how settings are read (config) nor who uses them.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import anyio
from anyio import to_thread

from agent_ls.config.load import NOTHING_RUNS
from agent_ls.config.running import fingerprint, model_of
from agent_ls.config.settings import ConfigError, Settings
from agent_ls.ports.host import Clock

log = logging.getLogger(__name__)

AT_START: Final = ("ledger",)
"""Sections that a daemon reads once."""


class Reloader:
    """`settings` are those that hold. `users` take new ones; they must not wait."""

    def __init__(self, settings: Settings, read: Callable[[], Settings], clock: Clock) -> None:
        self.settings = settings
        self.users: list[Callable[[Settings], None]] = []
        self._read = read
        self._clock = clock
        self._since = clock.now()
        self._error: str | None = None
        self._turn = anyio.Lock()

    async def reload(self) -> None:
        """Reads it off the loop. Where it cannot be read, the settings of before stay."""
        async with self._turn:
            found = await to_thread.run_sync(self._tried)
            if isinstance(found, Settings):
                self._error = None
                self._use(found)
            else:
                self._error = found
                log.error("the configuration could not be read again, the one of before stays: %s", found)

    def status(self) -> dict[str, Any]:
        """What `agent-ls status` shows: since when it holds, why a newer one does not, and what `doctor` compares."""
        held = self.settings
        return {
            "path": held.path,
            "since": self._since,
            "error": self._error,
            "model": model_of(held),
            "print": fingerprint(held),
        }

    def _tried(self) -> Settings | str:
        try:
            found = self._read()
        except ConfigError as error:
            return str(error)
        # The rules of before are known and hold, so what would not run after a start runs.
        return found if found.problem is None else found.problem.removesuffix(NOTHING_RUNS).rstrip()

    def _use(self, found: Settings) -> None:
        before, self.settings = self.settings, found
        self._since = self._clock.now()
        for use in self.users:
            use(found)
        log.info("the configuration was read again")
        for warning in (*found.warnings, *_only_at_start(before, found)):
            log.warning("%s", warning)


def revision(path: str) -> str:
    """Tells one state of the file from another; empty where there is none."""
    try:
        return sha256(Path(path).read_bytes()).hexdigest()[:12]
    except OSError:
        return ""


def _only_at_start(before: Settings, found: Settings) -> Sequence[str]:
    changed = [
        f"{section}.{each.name}"
        for section in AT_START
        for each in fields(getattr(found, section))
        if getattr(getattr(found, section), each.name) != getattr(getattr(before, section), each.name)
    ]
    return [f"`{name}` has changed; `agent-ls restart` puts it to use." for name in changed]
