"""A file that is watched for changes by others: by its folder, so that one which is swapped in is heard as well.

Owns the only use of watchfiles. Does not own what is done about a change.
"""

import logging
import os
from collections.abc import Callable
from typing import Final

log = logging.getLogger(__name__)

STEP_MS: Final = 200
"""Changes this close to each other are one. A thread looks this often: the daemon ends this much later."""


async def watch_file(path: str, changed: Callable[[], None]) -> None:
    """Until it is cancelled. `changed` must not wait. Where it cannot be watched, that is said in the log."""
    from watchfiles import awatch

    try:
        while True:
            folders = _folders(path)
            async for changes in awatch(*folders, watch_filter=None, recursive=False, debounce=STEP_MS, step=STEP_MS):
                if any(_concerns(each, path) for _, each in changes):
                    changed()
                if _folders(path) != folders:
                    changed()
                    break
    except (OSError, RuntimeError) as error:
        log.warning("%s is not watched for changes: %s", path, error)


def _folders(path: str) -> list[str]:
    """Of the file and of what it links to; where that is not there yet, the nearest one above it."""
    return sorted({_nearest(os.path.dirname(each)) for each in (path, os.path.realpath(path))})


def _nearest(folder: str) -> str:
    while folder and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder or "/"


def _concerns(changed: str, path: str) -> bool:
    return os.path.basename(changed) in {os.path.basename(path), os.path.basename(os.path.realpath(path))}
