"""Changes to files as windows see them: hunks, and what a person has decided on them.

Owns these shapes of results; what else the daemon sends is results.py's.
"""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict  # comes with pydantic, which reads no other before Python 3.12


class Hunk(TypedDict):
    id: str
    range: dict[str, Any]
    old: str
    new: str
    state: Literal["open", "kept", "undone", "stale"]


class FileChanges(TypedDict):
    uri: str
    hunks: list[Hunk]


class ReviewHunk(Hunk):
    """Whole lines. `range`: where it stands in the text as this window has it. `cut`: a text too long to be told."""

    itemId: str
    runId: str
    cut: NotRequired[bool]


class FileReview(TypedDict):
    """`hash` of the file that counts now, "" where there is none; `trouble`: why it cannot be looked at."""

    uri: str
    path: str
    hash: str
    hunks: list[ReviewHunk]
    trouble: NotRequired[str]


class ChangeList(TypedDict):
    changes: list[FileReview]


class ChangeDecided(TypedDict):
    """`hunks` that were decided now, `left` those that could not be undone; `note` says what became of the file."""

    seq: int
    hunks: list[str]
    left: list[str]
    note: NotRequired[str]
