"""What a model is sent and what it answers, in words of no provider.

Owns the neutral shape of a conversation with a model. context.py makes it from items; each wire (adapters.models)
turns it into its server's words.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agent_ls.core.items import Block, Usage


@dataclass(frozen=True)
class ToolSpec:
    """What a model is told of a tool; `schema` is a JSON Schema of an object."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True)
class TextPart:
    """`blob` names the whole text where it is too large for the transcript."""

    text: str
    blob: str | None = None


@dataclass(frozen=True)
class ReasoningPart:
    """`raw`: the provider's own block where it has to be sent back as it was; `blob` names it where it is large."""

    text: str
    raw: dict[str, Any] | None = None
    blob: str | None = None


@dataclass(frozen=True)
class CallPart:
    """`arguments` is the text as the model wrote it; `id` is the model's in a reply, ours in a request.

    `blob` names the whole arguments where they are too large for the transcript; put back before anything is sent.
    """

    id: str
    name: str
    arguments: str
    blob: str | None = None


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
    """The one result of a call, `call_id` as in the CallPart before it; `text` is never empty.

    `blob` names the whole text, to be put after `prefix`, where the transcript holds only parts of it.
    """

    call_id: str
    text: str
    is_error: bool = False
    images: tuple[Block, ...] = ()
    blob: str | None = None
    prefix: str = ""


@dataclass(frozen=True)
class ResultsTurn:
    """All results of the assistant turn before it, in call order."""

    results: tuple[ResultPart, ...]


ModelMessage = UserTurn | AssistantTurn | ResultsTurn


class Stop(StrEnum):
    END_TURN = "end_turn"
    TOOL_CALLS = "requires_approval"
    MAX_TOKENS = "max_tokens"
    REFUSAL = "refusal"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Reply:
    """A whole answer: its parts in order, why it stopped, what it used. `model` as the server names it."""

    parts: tuple[Part, ...]
    stop: Stop
    usage: Usage | None = None
    model: str | None = None
