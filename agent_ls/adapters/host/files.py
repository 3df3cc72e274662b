"""Files on disk, for the file tools: blocking work in worker threads, trouble as values.

Owns which thread and which refusal. Finding is canonical.py, reading opened.py, replacing atomic.py. What a window
has open and unsaved is not known here.
"""

from collections.abc import Callable
from typing import TypeVar

from anyio import to_thread

from agent_ls.adapters.host import atomic, canonical, opened
from agent_ls.adapters.host.filesystem import network_filesystem
from agent_ls.ports.files import Content, Found, Place, Refused, Replaced

T = TypeVar("T")


class DiskFiles:
    """Implements ports.files.Files. A cancelled call still lets its thread finish: a swap is never left half-way."""

    def __init__(self, renames: atomic.Renames | None = None) -> None:
        self._renames = renames or atomic.Renames()
        self._near: dict[str, bool] = {}

    async def locate(self, path: str, root: str) -> Place | Refused:
        # Some looks at folders that the system has just looked at: the way to a thread and back takes longer.
        if self._is_near(path, root):
            return canonical.locate(path, root)
        return await to_thread.run_sync(canonical.locate, path, root)

    async def find(self, path: str, root: str, limit: int) -> Found | Refused:
        return await to_thread.run_sync(_find, path, root, limit)

    async def read(self, path: str, limit: int) -> Content | Refused:
        return await _guarded(path, lambda: opened.read_regular(path, limit))

    async def replace(self, path: str, data: bytes, *, expected: str, token: str) -> Replaced | Refused:
        def work() -> Replaced:
            return atomic.replace(path, data, expected=expected, token=token, renames=self._renames)

        return await _guarded(path, work)

    async def remove(self, path: str, *, expected: str, token: str) -> Replaced | Refused:
        def work() -> Replaced:
            return atomic.remove(path, expected=expected, token=token, renames=self._renames)

        return await _guarded(path, work)

    async def reclaim(self, path: str, *, before: str, after: str, token: str) -> str | Refused:
        def work() -> str:
            return atomic.reclaim(path, before=before, after=after, token=token, renames=self._renames)

        return await _guarded(path, work)

    def forget(self, token: str) -> None:
        """A swap leaves nothing behind."""

    def _is_near(self, path: str, root: str) -> bool:
        """Whether it lies in the workspace by its name, and the workspace on a disk of this machine."""
        if ":" in path or path.startswith("~") or ".." in path.split("/"):
            return False
        if path.startswith("/") and not path.startswith(root.rstrip("/") + "/"):
            return False
        near = self._near.get(root)
        if near is None:
            near = self._near[root] = network_filesystem(root) is None
        return near


def _find(path: str, root: str, limit: int) -> Found | Refused:
    place = canonical.locate(path, root)
    if isinstance(place, Refused):
        return place
    return Found(place, _plainly(place.path, lambda: opened.read_regular(place.path, limit)))


async def _guarded(path: str, work: Callable[[], T]) -> T | Refused:
    return await to_thread.run_sync(_plainly, path, work)


def _plainly(path: str, work: Callable[[], T]) -> T | Refused:
    """Trouble as a value."""
    try:
        return work()
    except opened.Trouble as trouble:
        return trouble.refused
    except OSError as error:
        return opened.explained(path, error)
