"""A model behind a wire, for conversations whose loop is ours.

Owns the port: a request goes in, frames come while it streams, a reply or a failure comes out. The neutral shape of
messages is core.messages; each wire (adapters.models) turns it into its server's words. Trouble with the server is a
Failure value, never an exception.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent_ls.core.failure import Cause, Failure
from agent_ls.core.messages import (
    AssistantTurn,
    CallPart,
    ModelMessage,
    Part,
    ReasoningPart,
    Reply,
    ResultPart,
    ResultsTurn,
    Stop,
    TextPart,
    ToolSpec,
    UserTurn,
)

__all__ = [
    "AssistantTurn",
    "CallFrame",
    "CallPart",
    "Cause",
    "Emit",
    "Failure",
    "Frame",
    "Model",
    "ModelMessage",
    "ModelRequest",
    "Part",
    "ReasoningFrame",
    "ReasoningPart",
    "Reply",
    "ResultPart",
    "ResultsTurn",
    "Stop",
    "TextFrame",
    "TextPart",
    "ToolSpec",
    "UserTurn",
]


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """`cache_key` is stable for a conversation (prompt caches); `step_id` names the request in logs."""

    model: str
    system: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSpec, ...]
    step_id: str
    cache_key: str
    max_tokens: int | None = None


@dataclass(frozen=True)
class TextFrame:
    """`part` counts the parts of the reply in the order they began; the reply's parts have the same order."""

    part: int
    delta: str


@dataclass(frozen=True)
class ReasoningFrame:
    part: int
    delta: str


@dataclass(frozen=True)
class CallFrame:
    """A call has begun (its name is known) or its arguments grew."""

    part: int
    name: str
    delta: str


Frame = TextFrame | ReasoningFrame | CallFrame
Emit = Callable[[Frame], None]


class Model(Protocol):
    """One provider of configuration. Safe to call from many conversations at once."""

    async def call(self, request: ModelRequest, emit: Emit) -> Reply | Failure:
        """Frames go to `emit` as they come. Cancelling ends the request; nothing is retried here."""
        ...

    async def models(self) -> Sequence[str] | Failure:
        """Names of the models that the server offers."""
        ...

    async def close(self) -> None: ...
