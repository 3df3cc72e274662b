"""Which edits were sent through a window: a line on disk for each, until its outcome is in the ledger.

Owns nothing but these files. A successor asks them what its predecessor was doing when it was killed.
"""

import os
from contextlib import suppress

from agent_ls.core.textfile import sha256


class FileMarks:
    """In a private folder. Small enough to be written without a thread."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def put(self, token: str, window: str) -> None:
        with open(self._path(token), "w", encoding="utf-8", errors="replace") as file:
            file.write(window)

    def find(self, token: str) -> str | None:
        try:
            with open(self._path(token), encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def drop(self, token: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self._path(token))

    def _path(self, token: str) -> str:
        return os.path.join(self._folder, f"{sha256(token.encode('utf-8', 'replace'))[:16]}.window")
