"""The two Markdown files of each conversation and the draft of a message, as they lie on disk.

Owns the files: for this person only, the transcript only ever added to, the prompt never touched but by a command of
theirs, all gone with their conversation. Does not own what stands in them, nor when a window has them open instead.
"""

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from anyio import to_thread

from agent_ls.ports.papers import DRAFT, PROMPT, TRANSCRIPT

T = TypeVar("T")

LARGEST: Final = 64 * 1024 * 1024

log = logging.getLogger(__name__)


class PaperFiles:
    """Implements ports.papers.Papers."""

    def __init__(self, folder: str) -> None:
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = os.path.realpath(folder)

    async def read(self, name: str) -> str | None:
        return await self._tried(lambda: self._read(name), None)

    async def append(self, conversation_id: str, text: str) -> bool:
        return await self._tried(lambda: self._append(conversation_id + TRANSCRIPT, text), failed=False)

    async def make_prompt(self, conversation_id: str) -> None:
        await self._tried(lambda: self._append(conversation_id + PROMPT, ""), failed=False)

    async def write_prompt(self, conversation_id: str, text: str, *, instead_of: str) -> bool:
        return await self._tried(
            lambda: self._write(conversation_id + PROMPT, text, instead_of=instead_of), failed=False
        )

    async def write_draft(self, conversation_id: str, text: str) -> None:
        await self._tried(lambda: self._write_draft(conversation_id + DRAFT, text), failed=False)

    async def remove(self, conversation_id: str) -> None:
        await self._tried(lambda: self._remove(conversation_id), failed=False)

    async def names(self, folder: str, prefix: str, limit: int) -> list[str]:
        return await self._tried(lambda: _names(folder, prefix, limit), [])

    async def _tried(self, work: Callable[[], T], failed: T) -> T:
        try:
            return await to_thread.run_sync(work)
        except OSError as error:
            log.warning("a file of a conversation could not be used: %s", error.strerror)
            return failed

    def _read(self, name: str) -> str | None:
        try:
            with open(self._open(name, os.O_RDONLY), "rb") as file:
                return file.read(LARGEST).decode("utf-8", "replace")
        except FileNotFoundError:
            return None

    def _append(self, name: str, text: str) -> bool:
        with open(self._open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab") as file:
            file.write(text.encode("utf-8", "replace"))
        return True

    def _write(self, name: str, text: str, *, instead_of: str) -> bool:
        if (self._read(name) or "") != instead_of:
            return False
        return self._replace(name, text)

    def _write_draft(self, name: str, text: str) -> bool:
        if text:
            return self._replace(name, text)
        Path(self._path(name)).unlink(missing_ok=True)
        return True

    def _replace(self, name: str, text: str) -> bool:
        """Written beside and put in its place: whoever watches the file sees one text or the other."""
        beside = f".{name}.new"
        with open(self._open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        os.replace(self._path(beside), self._path(name))
        return True

    def _remove(self, conversation_id: str) -> bool:
        for suffix in (TRANSCRIPT, PROMPT, DRAFT):
            Path(self._path(conversation_id + suffix)).unlink(missing_ok=True)
        return True

    def _open(self, name: str, flags: int) -> int:
        return os.open(self._path(name), flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)

    def _path(self, name: str) -> str:
        assert "/" not in name, "a name, not a path"
        return os.path.join(self.folder, name)


def _names(folder: str, prefix: str, limit: int) -> list[str]:
    with os.scandir(folder) as entries:
        found = [
            entry.name + ("/" if entry.is_dir() else "")
            for entry in entries
            if entry.name.startswith(prefix) and entry.name != ".git" and (prefix or not entry.name.startswith("."))
        ]
    return sorted(found)[:limit]
