"""Text that came without a word on whether the disk has it too.

Owns telling unsaved text from a file that changed on disk. A client says neither: a restored buffer, a window that
comes back after the daemon was replaced and an old buffer are all a didOpen, and a buffer that was loaded again is a
didChange like typing.
"""

from collections.abc import Callable
from typing import Final

from agent_ls.core.uris import NotLocal, local_path
from agent_ls.editor.documents import Overlay, fingerprint
from agent_ls.editor.standing import NO_FILE
from agent_ls.editor.window_files import look
from agent_ls.ports.files import Files, Refused

QUIET_S: Final = 2.0
"""A file that was last changed longer ago than this had its content when the window opened it."""


async def settle(overlay: Overlay, files: Files, seconds_since_change: Callable[[str], float]) -> None:
    """After a didOpen, or the first didChange of a clean copy. What came meanwhile is left as it is."""
    try:
        path = local_path(overlay.key)
        if isinstance(path, NotLocal):
            return
        base, dirty = overlay.base, overlay.dirty
        disk = await look(files, path)
        if isinstance(disk, Refused) or not disk.certain or (overlay.base, overlay.dirty) != (base, dirty):
            return
        if disk.print == fingerprint(str(overlay.text)):
            overlay.as_on_disk(disk.print)
        elif not dirty and disk.print != base and (disk is NO_FILE or seconds_since_change(path) > QUIET_S):
            overlay.dirty, overlay.base = True, disk.print
    finally:
        overlay.settled.set()
