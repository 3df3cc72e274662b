"""What lies on disk beside a conversation: the daemon's transcript, the person's prompt, and a draft of theirs.

Owns what they are called. adapters.host.papers keeps them.
"""

import re
from dataclasses import dataclass
from typing import Final, Protocol

TRANSCRIPT: Final = ".md"
PROMPT: Final = ".prompt.md"
DRAFT: Final = ".draft"
"""What a window with a field of its own has not sent yet. No document: no editor opens it."""
_NAME: Final = re.compile(r"([A-Za-z0-9_-]{1,80})(\.prompt)?\.md")


@dataclass(frozen=True)
class Paper:
    conversation_id: str
    is_prompt: bool


class Papers(Protocol):
    """`folder` is absolute, without links. What cannot be written is logged, and tried again with what comes next."""

    folder: str

    async def read(self, name: str) -> str | None:
        """The text of one of the files; None where there is none that can be read."""
        ...

    async def append(self, conversation_id: str, text: str) -> bool:
        """To the transcript."""
        ...

    async def make_prompt(self, conversation_id: str) -> None:
        """An empty one, unless there is one."""
        ...

    async def write_prompt(self, conversation_id: str, text: str, *, instead_of: str) -> bool:
        """As the answer to a command of the person, while no window has it open; False: it holds another text."""
        ...

    async def write_draft(self, conversation_id: str, text: str) -> None:
        """An empty one is none."""
        ...

    async def remove(self, conversation_id: str) -> None: ...

    async def names(self, folder: str, prefix: str, limit: int) -> list[str]:
        """What a folder holds that begins so, folders with a `/` behind them."""
        ...


def paper_named(path: str, folder: str) -> Paper | None:
    """Which of the files a path of the folder is."""
    base, _, name = path.rpartition("/")
    found = _NAME.fullmatch(name) if base == folder else None
    return None if found is None else Paper(found[1], found[2] is not None)
