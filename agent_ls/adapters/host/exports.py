"""Answers that are too long to be sent, written out for whoever asked.

Owns the files: for this person only, removed by their reader, else when the daemon starts again. Does not own what is
in them.
"""

import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO, Final

from anyio import to_thread

INLINE_BYTES: Final = 1 << 20


class ExportFiles:
    """Implements ports.exports.Spill. Memory holds what fits an answer, whatever the length of the whole."""

    def __init__(self, folder: str) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.folder = folder
        Path(folder).mkdir(mode=0o700, parents=True)

    async def __call__(self, chunks: AsyncIterator[bytes], suffix: str) -> tuple[str | None, str | None]:
        held: list[bytes] = []
        size = 0
        async for chunk in chunks:
            held.append(chunk)
            size += len(chunk)
            if size > INLINE_BYTES:
                return None, await self._spill(held, chunks, suffix)
        return b"".join(held).decode("utf-8", "replace"), None

    async def _spill(self, held: list[bytes], rest: AsyncIterator[bytes], suffix: str) -> str:
        file, path = await to_thread.run_sync(self._open, suffix)
        try:
            with file:
                await to_thread.run_sync(file.writelines, held)
                held.clear()
                async for chunk in rest:
                    await to_thread.run_sync(file.write, chunk)
        except BaseException:
            Path(path).unlink(missing_ok=True)
            raise
        return path

    def _open(self, suffix: str) -> tuple[BinaryIO, str]:
        Path(self.folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, path = tempfile.mkstemp(suffix, "export-", self.folder)
        return open(handle, "wb"), path
