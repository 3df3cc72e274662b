"""The end of a watch: watchfiles waits in a thread, which no cancelling reaches.

Owns that the thread is told at once. Does not own what is watched.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import anyio

STEP_MS: Final = 100
"""A watcher's thread looks this often whether it has to end: the daemon ends this much later, and not the five seconds
that the thread would wait for a change."""


@asynccontextmanager
async def ended_when_cancelled(stop: anyio.Event) -> AsyncIterator[None]:
    """Sets `stop` when what is done in the block is cancelled. Exceptions of the block leave it in a group."""
    over = False

    async def stand_by() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            if not over:
                stop.set()

    async with anyio.create_task_group() as group:
        group.start_soon(stand_by, name="end of a watch")
        try:
            yield
        finally:
            over = True
            group.cancel_scope.cancel()
