"""Which files windows have open, on disk, for the daemon that comes after this one.

Owns one small file: a line for each file that was opened or closed, put together anew now and then. Not synced: it
has to outlive the process, not the machine. One that cannot be written costs a successor a little patience, and
nobody anything else.
"""

import logging
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

FILES: Final = "file://"
LONG: Final = 2_000

log = logging.getLogger(__name__)


class OpenSetFile:
    """`left` is what the file said when it was found; it stays there until `forget_left`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.left: Mapping[str, int] = _read(path)
        self._open: Counter[str] = Counter()
        self._kept = self.left
        self._file = -1
        self._lines = 0
        self._failed = False

    def opened(self, key: str) -> None:
        self._open[key] += 1
        self._put("+", key)

    def closed(self, key: str) -> None:
        self._open[key] -= 1
        if self._open[key] <= 0:
            del self._open[key]
        self._put("-", key)

    def forget_left(self) -> None:
        self._kept = {}
        self._anew()

    def _put(self, sign: str, key: str) -> None:
        if not key.startswith(FILES) or "\n" in key:
            return
        self._lines += 1
        if self._file < 0 or self._lines > LONG + 2 * len(self._open):
            self._anew()
            return
        with suppress(OSError):
            os.write(self._file, f"{sign}{key}\n".encode("utf-8", "surrogatepass"))

    def _anew(self) -> None:
        keys = (Counter(self._kept) | self._open).elements()
        lines = "".join(f"+{key}\n" for key in keys if key.startswith(FILES) and "\n" not in key)
        fresh = f"{self._path}.new"
        try:
            file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
            try:
                os.write(file, lines.encode("utf-8", "surrogatepass"))
                os.replace(fresh, self._path)
            except OSError:
                os.close(file)
                raise
        except OSError as error:
            if not self._failed:
                log.warning("which files are open is not on record: %s", error.strerror)
            self._failed = True
            return
        if self._file >= 0:
            os.close(self._file)
        self._file, self._lines = file, 0


def _read(path: str) -> Mapping[str, int]:
    try:
        with open(path, encoding="utf-8", errors="surrogatepass", newline="\n") as file:
            return _counted(line.rstrip("\n") for line in file)
    except (OSError, ValueError):
        return {}


def _counted(lines: Iterable[str]) -> Mapping[str, int]:
    found: Counter[str] = Counter()
    for line in lines:
        if line.startswith("+"):
            found[line[1:]] += 1
        elif line.startswith("-"):
            found[line[1:]] -= 1
    return +found
