"""Files of this machine as the file tools see them: found for real, read whole, replaced without losing anything.

Owns the shape of what comes back. Implemented in adapters.host.files for the disk; editor.window_files stands in
front of it with what windows have open.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

ABSENT = ""
"""The hash of a file that does not exist."""


class Reason(StrEnum):
    NOT_LOCAL = "not_local"
    MISSING = "missing"
    NOT_A_FILE = "not_a_file"
    TOO_LARGE = "too_large"
    FORBIDDEN = "forbidden"
    STALE = "stale"
    OPEN = "open"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Refused:
    """Why nothing was read or written, and what to do. `STALE`: the file no longer holds what was expected.

    `UNKNOWN` alone does not say that nothing was written: whether it was cannot be told.
    """

    reason: Reason
    message: str


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a path leads. `path` is absolute with every link resolved, `uri` its canonical key.

    `asked` is the absolute path whose last component may be the link that leads there; `note` says what the model
    should know about the way (another spelling of the name on disk). `shared`: the file has other hard links, which may
    be anywhere.
    """

    path: str
    uri: str
    asked: str
    exists: bool
    note: str | None = None
    shared: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """What policy has to look at: the real file, and the link when it was reached by one."""
        return (self.path,) if self.path == self.asked else (self.asked, self.path)


@dataclass(frozen=True)
class Content:
    """`note` is what the model should know about where this comes from, as a phrase."""

    data: bytes
    digest: str
    note: str | None = None


@dataclass(frozen=True)
class Found:
    """Where a path leads, and what is there."""

    place: Place
    content: Content | Refused


@dataclass(frozen=True, kw_only=True)
class Replaced:
    """`in_place`: why the file was overwritten instead of swapped, None when it was swapped.

    `note` is what else became of it, as whole sentences.
    """

    digest: str
    in_place: str | None = None
    note: str | None = None


class Files(Protocol):
    async def locate(self, path: str, root: str) -> Place | Refused:
        """Absolute, `~`, relative to `root`, or a `file:` URI. A file that does not exist has a place too."""
        ...

    async def find(self, path: str, root: str, limit: int) -> Found | Refused:
        """`locate` and `read` at once, for half the way."""
        ...

    async def read(self, path: str, limit: int) -> Content | Refused:
        """The whole of a regular file of at most `limit` bytes; `path` as `Place.path`."""
        ...

    async def replace(self, path: str, data: bytes, *, expected: str, token: str) -> Replaced | Refused:
        """The file holds `data` afterwards, provided that it held `expected` (ABSENT: that there was none) until then.

        `token` names what is written beside it, so that `reclaim` finds it after a crash.
        """
        ...

    async def remove(self, path: str, *, expected: str, token: str) -> Replaced | Refused:
        """The file is gone afterwards, provided that it held `expected` until then. OPEN: a window has it open."""
        ...

    async def reclaim(self, path: str, *, before: str, after: str, token: str) -> str | Refused:
        """Clears up after a `replace` that a crash cut off; the hash of what the file holds now, or ABSENT."""
        ...

    def forget(self, token: str) -> None:
        """The outcome of this `replace` is written down: what was kept for `reclaim` can go."""
        ...
