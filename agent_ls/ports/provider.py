"""A model behind a wire, for conversations whose loop is ours.

Owns the neutral shape of a request, of the frames while it streams and of the reply. Each wire (adapters.models)
turns them into its server's words. Trouble with the server is a Failure value, never an exception.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from agent_ls.core.items import Block, Usage


@dataclass(frozen=True)
class ToolSpec:
    """What a model is told of a tool; `schema` is a JSON Schema of an object."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True)
class TextPart:
    text: str


@dataclass(frozen=True)
class ReasoningPart:
    """`raw`: the provider's own block where it has to be sent back as it was."""

    text: str
    raw: dict[str, Any] | None = None


@dataclass(frozen=True)
class CallPart:
    """`arguments` is the text as the model wrote it; `id` is the model's in a reply, ours in a request."""

    id: str
    name: str
    arguments: str


Part = TextPart | ReasoningPart | CallPart


@dataclass(frozen=True)
class UserTurn:
    """Content of the person: text and image blocks, never empty."""

    content: tuple[Block, ...]


@dataclass(frozen=True)
class AssistantTurn:
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class ResultPart:
    """The one result of a call, `call_id` as in the CallPart before it; `text` is never empty."""

    call_id: str
    text: str
    is_error: bool = False
    images: tuple[Block, ...] = ()


@dataclass(frozen=True)
class ResultsTurn:
    """All results of the assistant turn before it, in call order."""

    results: tuple[ResultPart, ...]


ModelMessage = UserTurn | AssistantTurn | ResultsTurn


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


class Stop(StrEnum):
    END_TURN = "end_turn"
    TOOL_CALLS = "requires_approval"
    MAX_TOKENS = "max_tokens"
    REFUSAL = "refusal"
    CANCELLED = "cancelled"


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


@dataclass(frozen=True)
class Reply:
    """A whole answer: its parts in order, why it stopped, what it used. `model` as the server names it."""

    parts: tuple[Part, ...]
    stop: Stop
    usage: Usage | None = None
    model: str | None = None


class Cause(StrEnum):
    NETWORK = "network"
    TIMEOUT = "timeout"
    CUT = "cut"
    NONSENSE = "nonsense"
    UNAUTHORIZED = "unauthorized"
    NO_CREDIT = "no_credit"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER = "server"
    NOT_FOUND = "not_found"
    OVERFLOW = "overflow"
    INVALID = "invalid"
    EMPTY = "empty"


@dataclass(frozen=True)
class Failure:
    """Why there is no answer. `message` is a sentence for the person; `detail` the server's own words, shortened."""

    cause: Cause
    message: str
    detail: str = ""
    status: int | None = None
    retry_after: str | None = None
    shown: bool = False


class Model(Protocol):
    """One provider of configuration. Safe to call from many conversations at once."""

    async def call(self, request: ModelRequest, emit: Emit) -> Reply | Failure:
        """Frames go to `emit` as they come. Cancelling ends the request; nothing is retried here."""
        ...

    async def models(self) -> Sequence[str] | Failure:
        """Names of the models that the server offers."""
        ...

    async def close(self) -> None: ...
