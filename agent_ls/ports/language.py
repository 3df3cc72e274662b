"""What the language servers of the editors say: diagnostics, symbols, references.

Implemented in editor.language, which asks the windows. Everything in it is somebody else's word: text to show, nothing
to act on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Unavailable:
    """Why nothing can be asked, in a sentence that a model can act on."""

    reason: str


@dataclass(frozen=True, order=True)
class Remark:
    """One diagnostic. `path` is absolute; `line` and `column` count from 1; `severity` 1 is an error, 4 a hint."""

    path: str
    severity: int
    line: int
    column: int
    message: str
    source: str = ""


class Language(Protocol):
    def offers(self, root: str) -> frozenset[str]:
        """`diagnostics` and `proxy`, as far as a window with this workspace has them."""
        ...

    async def remarks(self, root: str, path: str | None) -> Sequence[Remark] | Unavailable:
        """Of one file or of all beneath the root, as they are known now; waits a moment for a file just changed."""
        ...

    async def ask(self, root: str, method: str, params: dict[str, Any]) -> Any | Unavailable:
        """The result of an LSP request to the window's own language servers."""
        ...
