"""Pictures in what a model is sent: how much they weigh, and the request without them.

Owns the note that stands in the place of each. Whether a picture is legal at all is core.images'.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from agent_ls.core.failure import Cause, Failure
from agent_ls.core.items import Block, Notice
from agent_ls.core.messages import ModelMessage, ResultsTurn, UserTurn

HUGE: Final = 8 * 1024 * 1024
"""Characters of pictures with which a connection that breaks again may break because of them."""

_TOO_LARGE: Final = 413
_NOTE: Final = "(a picture was here; it is left out, as the request was too large with it)"

LEFT_OUT: Final = Notice(
    code="pictures_left_out",
    message="The request was too large for the server or the way to it, so the model is sent no pictures any more.",
    hint="Attach the one that matters again, scaled down, in a new conversation.",
)


def are_to_blame(failure: Failure, messages: Iterable[ModelMessage], *, retries: int) -> bool:
    """A request that is too large in bytes; or one that was asked again already, and whose way to the server breaks."""
    weight = sum(len(block.data or "") for block in _pictures(messages))
    if failure.status == _TOO_LARGE:
        return weight > 0
    return failure.cause in (Cause.NETWORK, Cause.CUT) and not failure.shown and retries > 0 and weight > HUGE


def left_out(messages: Sequence[ModelMessage]) -> tuple[ModelMessage, ...]:
    return tuple(map(_without, messages))


def _without(message: ModelMessage) -> ModelMessage:
    match message:
        case UserTurn(content) if any(block.type == "image" for block in content):
            return UserTurn(tuple(map(_noted, content)))
        case ResultsTurn(results) if any(result.images for result in results):
            bare = (
                replace(result, text=f"{result.text}\n{_NOTE}", images=()) if result.images else result
                for result in results
            )
            return ResultsTurn(tuple(bare))
        case _:
            return message


def _noted(block: Block) -> Block:
    return Block(type="text", text=_NOTE) if block.type == "image" else block


def _pictures(messages: Iterable[ModelMessage]) -> Iterator[Block]:
    for message in messages:
        match message:
            case UserTurn(content):
                yield from (block for block in content if block.type == "image")
            case ResultsTurn(results):
                for result in results:
                    yield from result.images
            case _:
                pass
