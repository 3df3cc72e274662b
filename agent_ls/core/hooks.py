"""Hooks: programs of the person's own that are asked or told at certain moments.

Owns the moments, and what a program's end means: 0 goes on (JSON on stdout may change the input or add context), 2
refuses with stderr as the reason, everything else is shown and ignored. Does not own running it (adapters.host.hooks)
nor what follows (runtime.hook_calls).
"""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from agent_ls.core.display import one_line
from agent_ls.core.nesting import too_deep

GOES_ON: Final = 0
REFUSES: Final = 2
CONTEXT_LIMIT: Final = 20_000
_NO_REASON: Final = "The hook gave no reason."


class HookEvent(StrEnum):
    SESSION_START = "session_start"
    SESSION_END = "session_end"
    PROMPT = "prompt"
    PRE_TOOL = "pre_tool"
    POST_TOOL = "post_tool"
    REQUEST = "request"
    STOP = "stop"
    SUBAGENT_STOP = "subagent_stop"
    PRE_COMPACT = "pre_compact"
    NOTIFICATION = "notification"


@dataclass(frozen=True, kw_only=True)
class HookAnswer:
    """`refused`: why not; `input` takes the place of what there was; `trouble`: a sentence about a hook that failed."""

    refused: str | None = None
    input: dict[str, Any] | None = None
    context: str | None = None
    trouble: str | None = None


NOTHING: Final = HookAnswer()


def read(event: HookEvent, code: int, *, stdout: str, stderr: str) -> HookAnswer:
    """What a program meant that has ended with this status (below zero: by a signal)."""
    if code == REFUSES:
        return HookAnswer(refused=stderr.strip()[:CONTEXT_LIMIT] or _NO_REASON)
    if code != GOES_ON:
        how = f"ended with status {code}" if code > 0 else f"was ended by signal {-code}"
        said = f": {one_line(stderr.strip(), 300)}" if stderr.strip() else ""
        return failed(event, f"{how}{said}")
    text = stdout.strip()
    # A program may say what it likes; only an object is meant for us.
    return _read_object(event, text) if text.startswith("{") else NOTHING


def failed(event: HookEvent, how: str) -> HookAnswer:
    return HookAnswer(trouble=f"The hook `{event}` {how}. It was ignored.")


def _read_object(event: HookEvent, text: str) -> HookAnswer:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return failed(event, "printed something that begins like JSON and is none")
    given, context = said.get("input"), said.get("context")
    if given is not None and (not isinstance(given, dict) or too_deep(given)):
        return failed(event, "printed an `input` that is no object")
    if context is not None and not isinstance(context, str):
        return failed(event, "printed a `context` that is no text")
    return HookAnswer(input=given, context=(context or "").strip()[:CONTEXT_LIMIT] or None)
