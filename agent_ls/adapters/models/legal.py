"""What every server wants of a request, in whatever words it is spelled.

Owns the small rules that all encoders follow: names and arguments that servers take back, no text that says nothing,
pictures as servers know them. Does no I/O.
"""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from agent_ls.core.items import Block
from agent_ls.core.messages import AssistantTurn, CallPart, ReasoningPart, ResultPart, TextPart

EMPTY_MESSAGE: Final = "(empty message)"
NO_OUTPUT: Final = "(no output)"
PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

_ILLEGAL: Final = re.compile(r"[^a-zA-Z0-9_-]")


@lru_cache(maxsize=1024)
def legal_arguments(text: str) -> str:
    """Arguments as a JSON object: servers parse what we send back, and one bad call would spoil every request after."""
    if not text.strip():
        return "{}"
    try:
        value = json.loads(text)
    except ValueError:
        return json.dumps({"invalid_json": text})
    return text if isinstance(value, dict) else json.dumps({"invalid_arguments": value})


def legal_name(name: str) -> str:
    """A tool's name as servers take it back, also one that a model made up and that names no tool."""
    return _ILLEGAL.sub("_", name)[:64] or "unknown"


def result_text(result: ResultPart) -> str:
    return result.text if result.text.strip() else NO_OUTPUT


def is_picture(block: Block) -> bool:
    return block.type == "image" and bool(block.data) and picture_type(block) in PICTURES


def picture_type(block: Block) -> str:
    kind = (block.mime_type or "image/png").lower()
    return "image/jpeg" if kind == "image/jpg" else kind


def data_url(block: Block) -> str:
    return f"data:{picture_type(block)};base64,{block.data}"


def block_text(block: Block) -> str:
    """What is said of a block that is no picture; blank where there is nothing to say."""
    if block.text is not None:
        return block.text if block.text.strip() else ""
    if block.type == "image" and block.data:
        return f"[an image of type {picture_type(block)}, which models cannot look at]"
    return f"[{block.type}: {block.uri}]" if block.uri else ""


def said(turn: AssistantTurn) -> Sequence[TextPart | ReasoningPart | CallPart]:
    """The parts of a turn without text that says nothing; none at all where only thoughts are left."""
    parts = [part for part in turn.parts if not isinstance(part, TextPart) or part.text.strip()]
    return parts if any(not isinstance(part, ReasoningPart) for part in parts) else ()
