"""What a conversation has used, as `agent/context/status` tells it, key by key as on the wire.

Owns these shapes only; results.py holds all others.
"""

from typing import NotRequired

from typing_extensions import TypedDict  # comes with pydantic, which reads no other before Python 3.12

from agent_ls.core.run import RunStatus


class Use(TypedDict):
    """Tokens as the provider counted them; the cost where its price is known."""

    inputTokens: int
    outputTokens: int
    cacheReadTokens: int
    costUsd: NotRequired[float]


class RunUse(Use):
    runId: str
    ordinal: int
    status: RunStatus
    steps: int


class ContextUse(TypedDict):
    """`usedTokens` estimates the next request, the rest is of the whole conversation, its subagents included.

    `subagents` is what they had of it, `runs` the newest ones. `thresholds` in tokens: `compactAt` (none where that is
    switched off), `reserve` and `keepRecent`. `cacheHitRate`: the share of all that was sent which a cache had.
    """

    usedTokens: int
    inputTokens: int
    outputTokens: int
    lastStep: Use
    runs: list[RunUse]
    subagents: NotRequired[Use]
    windowTokens: NotRequired[int]
    thresholds: NotRequired[dict[str, int]]
    costUsd: NotRequired[float]
    cacheReadTokens: int
    cacheHitRate: NotRequired[float]
