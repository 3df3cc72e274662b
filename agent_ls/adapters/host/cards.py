"""Requests written out, for windows that show them as a document.

Owns the files: for this person only, never changed once written, gone when the daemon starts again. A name stands for
one text, so a window that has it open never shows something else than what was asked for.
"""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from anyio import to_thread


class CardFiles:
    def __init__(self, folder: str) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self._folder = Path(folder)

    async def keep(self, name: str, text: str) -> str:
        """The URI of the file."""
        return await to_thread.run_sync(self._keep, name, text)

    async def drop(self, numbers: Iterable[int]) -> None:
        """Those of requests that are gone."""
        await to_thread.run_sync(self._drop, tuple(numbers))

    def _drop(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            for path in self._folder.glob(f"{number}-*.md"):
                path.unlink(missing_ok=True)

    def _keep(self, name: str, text: str) -> str:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        path = self._folder / name
        if not path.exists():
            beside = self._folder / f".{name}"
            beside.unlink(missing_ok=True)
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400), "w", encoding="utf-8") as file:
                file.write(text)
            beside.replace(path)
        return path.as_uri()
