"""A file that is watched for changes by others: by its folder, so that one which is swapped in is heard as well.

Owns which folders are looked at. Does not own what is done about a change.
"""

import logging
import os
from collections.abc import Callable
from typing import Final

import anyio

from agent_ls.adapters.host.watch_end import STEP_MS, ended_when_cancelled

log = logging.getLogger(__name__)

TOGETHER_MS: Final = 200
"""Changes this close to each other are one."""


async def watch_file(path: str, changed: Callable[[], None]) -> None:
    """Until it is cancelled. `changed` must not wait. Where it cannot be watched, that is said in the log."""
    stop = anyio.Event()
    async with ended_when_cancelled(stop):
        try:
            while not stop.is_set():
                await _until_elsewhere(path, changed, stop)
        except (OSError, RuntimeError) as error:
            log.warning("%s is not watched for changes: %s", path, error)


async def _until_elsewhere(path: str, changed: Callable[[], None], stop: anyio.Event) -> None:
    """Until the file is in other folders than it was."""
    from watchfiles import awatch

    folders = _folders(path)
    async for changes in awatch(
        *folders, watch_filter=None, recursive=False, debounce=TOGETHER_MS, step=STEP_MS, stop_event=stop
    ):
        if any(_concerns(each, path) for _, each in changes):
            changed()
        if _folders(path) != folders:
            changed()
            return


def _folders(path: str) -> list[str]:
    """Of the file and of what it links to; where that is not there yet, the nearest one above it."""
    return sorted({_nearest(os.path.dirname(each)) for each in (path, os.path.realpath(path))})


def _nearest(folder: str) -> str:
    while folder and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder or "/"


def _concerns(changed: str, path: str) -> bool:
    return os.path.basename(changed) in {os.path.basename(path), os.path.basename(os.path.realpath(path))}
