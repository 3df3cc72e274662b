"""Conversations as files: one that was exported and is read back, and one that is too long for an answer.

Owns nothing. adapters.ledger.jsonl reads, adapters.host.exports writes.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Protocol

from agent_ls.core.imported import Record


class ExportFile(Protocol):
    """Both block: they are called in a thread."""

    def digest(self) -> str:
        """Of the content: the same file is the same conversation."""
        ...

    def records(self) -> Iterator[Record]:
        """Whatever can be read, in the order of the file, and a Gap for everything that cannot."""
        ...

    def close(self) -> None: ...


class Spill(Protocol):
    async def __call__(self, chunks: AsyncIterator[bytes], suffix: str) -> tuple[str | None, str | None]:
        """The text itself if it is short, else the path of a file that holds it. Exactly one is set."""
        ...
