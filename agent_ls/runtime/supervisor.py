"""Every task has an owner: this one.

Owns the task group under which drivers, pumps and watchers live, and that a crash of one is logged with its name and
takes nothing else down.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from anyio.abc import TaskGroup

log = logging.getLogger(__name__)


class Supervisor:
    """Runs named tasks until `stop`. `async with` it around everything that starts tasks."""

    def __init__(self) -> None:
        self._group: TaskGroup | None = None
        self.stopping = False
        self.crashes = 0

    async def __aenter__(self) -> "Supervisor":
        self._group = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> bool | None:
        group = self._group
        if group is None:
            return None
        self.stop()
        return await group.__aexit__(*error)

    def start(self, name: str, work: Callable[[], Awaitable[None]]) -> bool:
        """Starts a task; False when the daemon is stopping and nothing may begin any more."""
        if self._group is None or self.stopping:
            return False
        self._group.start_soon(self._guard, name, work, name=name)
        return True

    def stop(self) -> None:
        """Cancels every task. Each ends what it started before it goes."""
        self.stopping = True
        if self._group is not None:
            self._group.cancel_scope.cancel()

    async def _guard(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Exception:
            self.crashes += 1
            log.exception("%s crashed", name)
