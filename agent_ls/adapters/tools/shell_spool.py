"""Output of a running command on disk, so that a killed daemon's successor can tell what had been said and by whom.

Owns the file: one line of JSON `{pid, startTime, itemId}`, then raw output as it comes, never synced, up to a limit.
Removed by whoever has committed the result.
"""

import contextlib
import json
import os
import re
from dataclasses import dataclass
from typing import Final

from agent_ls.ports.processes import ProcessId

LIMIT: Final = 8 * 1024 * 1024
_LONGEST_FIRST_LINE: Final = 4096


def path_of(spool: str, item_id: str, suffix: str = ".out") -> str:
    return os.path.join(spool, re.sub(r"[^A-Za-z0-9._-]", "_", item_id).lstrip(".")[:200] + suffix)


def forget(spool: str, item_id: str) -> None:
    for suffix in (".out", ".cwd"):
        with contextlib.suppress(OSError):
            os.unlink(path_of(spool, item_id, suffix))


class Spool:
    """A full or broken disk ends the copy, never the command."""

    def __init__(self, spool: str, item_id: str) -> None:
        self._item_id = item_id
        self._path = path_of(spool, item_id)
        self._file: int | None = None
        self._start = 0
        self._size = 0
        with contextlib.suppress(OSError):
            os.makedirs(spool, mode=0o700, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(self._path, flags, 0o600)

    def begin(self, process: ProcessId) -> None:
        head = {"pid": process.pid, "startTime": process.started, "itemId": self._item_id}
        line = json.dumps(head).encode() + b"\n"
        self._start = len(line)
        self._append(line)

    def write(self, data: bytes) -> None:
        room = LIMIT - self._size
        if room > 0 and self._file is not None:
            self._size += min(room, len(data))
            self._append(data[:room])

    def whole(self) -> bytes:
        """All that was kept."""
        if self._file is None:
            return b""
        return os.pread(self._file, LIMIT, self._start)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _append(self, data: bytes) -> None:
        while data and self._file is not None:
            try:
                data = data[os.write(self._file, data) :]
            except OSError:
                self.close()


@dataclass(frozen=True)
class Left:
    """What an earlier daemon left. `process` has no start where it was killed before it could note one."""

    process: ProcessId
    output: bytes


def read(spool: str, item_id: str) -> Left | None:
    try:
        with open(path_of(spool, item_id), "rb") as file:
            line = file.readline(_LONGEST_FIRST_LINE)
            output = file.read(LIMIT)
    except OSError:
        return None
    try:
        head = json.loads(line)
        return Left(ProcessId(int(head["pid"]), str(head["startTime"])), output)
    except (ValueError, KeyError, TypeError):
        return Left(ProcessId(0, ""), b"")
