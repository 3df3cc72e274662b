"""Files that somebody else may change while a person decides on them: their folders are watched, and nothing else.

Owns the watcher of the system and which folders it looks at. What follows from a change is told to whoever asked. What
cannot be watched (no more watches, a network disk) costs a card that is drawn late, never a wrong edit.
"""

import logging
import os
from collections.abc import Callable, Collection
from typing import Final

import anyio
from anyio import to_thread
from watchfiles import awatch

from agent_ls.adapters.host.watch_end import STEP_MS, ended_when_cancelled

MOST_FOLDERS: Final = 64
# How long it gathers changes.
TOGETHER_MS: Final = 200
# How long after it has begun to look it says so.
BEGUN_MS: Final = 500

log = logging.getLogger(__name__)


class FileWatch:
    """`changed` gets the absolute paths of what was changed."""

    def __init__(self, changed: Callable[[Collection[str]], None]) -> None:
        self._changed = changed
        self._paths: tuple[str, ...] = ()
        self._folders: frozenset[str] = frozenset()
        self._news = anyio.Event()

    def follow(self, paths: Collection[str]) -> None:
        """From now on these files, no others. Must not wait."""
        self._paths = tuple(paths)
        folders = frozenset(sorted({os.path.dirname(path) for path in paths})[:MOST_FOLDERS])
        if folders != self._folders:
            self._folders = folders
            news, self._news = self._news, anyio.Event()
            news.set()

    async def watch(self) -> None:
        """For as long as the daemon lives."""
        while True:
            news, folders = self._news, self._folders
            there = await to_thread.run_sync(_there, folders)
            if not there or not await self._look(there, news):
                await news.wait()

    async def _look(self, folders: Collection[str], news: anyio.Event) -> bool:
        """Until there is news of what to follow. False where nothing can be watched.

        What has changed before it began to look is not known, so every file counts as changed once.
        """
        begun = False
        async with ended_when_cancelled(news):
            try:
                async for changes in awatch(
                    *folders, watch_filter=None, recursive=False, debounce=TOGETHER_MS, step=STEP_MS, stop_event=news,
                    ignore_permission_denied=True, rust_timeout=BEGUN_MS, yield_on_timeout=True,
                ):  # fmt: skip
                    missed = () if begun else (path for path in self._paths if os.path.dirname(path) in folders)
                    self._changed({path for _, path in changes} | set(missed))
                    begun = True
            except (OSError, RuntimeError) as error:
                log.warning("files that wait for a decision cannot be watched: %s", type(error).__name__)
                return False
        return True


def _there(folders: Collection[str]) -> list[str]:
    return [folder for folder in folders if os.path.isdir(folder)]
