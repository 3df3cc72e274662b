"""Hooks as the runtime sees them: which there are, and what one says.

Implemented in adapters.host.hooks; they come from the person's own configuration and from nowhere else.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from agent_ls.core.hooks import NOTHING, HookAnswer, HookEvent


class Hooks(Protocol):
    def has(self, event: HookEvent) -> bool: ...

    async def run(
        self, event: HookEvent, payload: Mapping[str, Any], *, cwd: str, environment: Mapping[str, str]
    ) -> HookAnswer:
        """Never raises; cancelling ends the program. Nothing where there is no such hook."""
        ...


class NoHooks:
    def has(self, event: HookEvent) -> bool:
        return False

    async def run(
        self, event: HookEvent, payload: Mapping[str, Any], *, cwd: str, environment: Mapping[str, str]
    ) -> HookAnswer:
        return NOTHING
