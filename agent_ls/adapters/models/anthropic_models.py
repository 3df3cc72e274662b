"""What a model of Anthropic wants to be asked with: how long an answer may be, and how it thinks.

Owns the rules that follow from a model's name, for the models there are and those that will come. A name that says
nothing (a model behind a gateway) is asked for a short answer and no thoughts, which every server accepts.
"""

import re
from typing import Any, Final

# claude-sonnet-4-5-20250929, claude-3-5-haiku-latest, anthropic/claude-opus-4.6
NAME: Final = re.compile(r"claude-(?:([a-z]+)-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
BUDGET: Final = 8_000
"""Tokens for thoughts, for models that want a number; less than the shortest answer of a model that thinks."""


def longest_answer(model: str) -> int:
    """`max_tokens`, which each request has to name. Models before 4.5 refuse a prompt that leaves less room than it."""
    match version_of(model):
        case (major, minor) if (major, minor) >= (4, 5):
            return 32_000
        case (major, minor) if (major, minor) >= (3, 7):
            return 16_000
        case (major, minor) if (major, minor) < (3, 5):
            return 4_096
        case _:
            return 8_192


def thinking(model: str, max_tokens: int) -> dict[str, Any] | None:
    """How thoughts are asked for; None: not at all. From 4.6 on a model decides by itself how long it thinks."""
    version = version_of(model)
    if version is None or version < (3, 7):
        return None
    if version >= (4, 6):
        return {"type": "adaptive", "display": "summarized"}
    return {"type": "enabled", "budget_tokens": BUDGET} if max_tokens > BUDGET else None


def version_of(model: str) -> tuple[int, int] | None:
    found = NAME.search(model.lower())
    return None if found is None else (int(found[2]), int(found[3] or 0))
