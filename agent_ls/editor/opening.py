"""Text that came without a word on whether the disk has it too.

Owns telling unsaved text from a file that changed on disk. A client says neither: a restored buffer and an old one
are both a didOpen, and a buffer that was loaded again is a didChange like typing. Of a window that comes back after
the daemon was replaced, the bridge tells since when it had its text: the answer is the one that there was then.
"""

from collections.abc import Callable
from typing import Final

import anyio

from agent_ls.core.uris import NotLocal, local_path
from agent_ls.editor.documents import Overlay, fingerprint
from agent_ls.editor.standing import NO_FILE
from agent_ls.editor.window_files import look
from agent_ls.ports.files import Files, Refused

QUIET_S: Final = 2.0
"""A file that was last changed longer ago than this had its content when the window opened it."""

FOLLOWS_S: Final = 2.0
"""The change of a document that came back is sent in one piece with it."""


async def settle(overlay: Overlay, files: Files, seconds_since_change: Callable[[str], float]) -> None:
    """After a didOpen, or the first didChange of a clean copy. What came meanwhile is left as it is."""
    try:
        path = local_path(overlay.key)
        if not isinstance(path, NotLocal):
            await _compare(overlay, path, files, seconds_since_change=seconds_since_change)
        await _finished(overlay)
    finally:
        overlay.settled.set()


async def _compare(overlay: Overlay, path: str, files: Files, *, seconds_since_change: Callable[[str], float]) -> None:
    known_s, overlay.known_s = overlay.known_s, None
    base, dirty = overlay.base, overlay.dirty
    disk = await look(files, path)
    # What came back is judged by the text that it had then, whatever it was changed to since.
    moved_on = overlay.base != base or (known_s is None and overlay.dirty != dirty)
    if isinstance(disk, Refused) or not disk.certain or moved_on:
        return
    if known_s is None and disk.print == fingerprint(str(overlay.text)):
        overlay.as_on_disk(disk.print)
    elif disk.print != base and (known_s is not None or not dirty):
        had_s = QUIET_S + (known_s or 0.0)
        if disk is NO_FILE or seconds_since_change(path) > had_s:
            overlay.dirty, overlay.base = True, disk.print


async def _finished(overlay: Overlay) -> None:
    with anyio.move_on_after(FOLLOWS_S):
        while overlay.unfinished and not overlay.closed:
            await overlay.changed.wait()
    overlay.lost = overlay.lost or overlay.unfinished
