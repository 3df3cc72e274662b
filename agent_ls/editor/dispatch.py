"""From a handler's outcome to the one reply that its request gets.

Owns how a refusal, wrong parameters and a bug of ours look on the wire. Does not own which handlers there are nor
when they run (connection). The one place of the editor room that catches every exception: a bug in one handler must
not take the link down.
"""

import logging
import traceback
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from agent_ls.core.errors import Refused
from agent_ls.editor.framing import Message

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
CANCELLED = -32800
REFUSED = -32000

log = logging.getLogger(__name__)


async def outcome(method: str, run: Callable[[], Awaitable[Any]]) -> Message:
    """`{"result": …}` or `{"error": …}`: what is left of a reply besides its id. Cancellation passes."""
    try:
        return {"result": await run()}
    except Refused as refused:
        return refusal(refused)
    except Exception as error:
        log_bug(method, error)
        return failure(INTERNAL_ERROR, f"{method} failed inside agent-ls. `agent-ls log` has the details.")


async def contained(what: str, run: Callable[[], Awaitable[Any]]) -> bool:
    """Run something of one link so that a bug in it ends there, logged; whether it went well."""
    try:
        await run()
    except Exception as error:
        log_bug(what, error)
        return False
    return True


def refusal(refused: Refused) -> Message:
    data = refused.refusal.as_data()
    code = INVALID_PARAMS if refused.code == "invalid_params" else REFUSED
    return failure(code, refused.message, data)


def failure(code: int, sentence: str, data: Any = None) -> Message:
    error: dict[str, Any] = {"code": code, "message": sentence}
    if data is not None:
        error["data"] = data
    return {"error": error}


def log_bug(method: str, error: Exception) -> None:
    """Where it happened and of what type. Not what the exception says: that may quote a message."""
    for inner in _innermost(error):
        frames = "".join(traceback.format_tb(inner.__traceback__))
        log.error("%s failed: %s\n%s", method, type(inner).__name__, frames)


def _innermost(error: BaseException) -> Iterator[BaseException]:
    """A task group wraps what went wrong inside; the wrapping says nothing."""
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for inner in error.exceptions:
        yield from _innermost(inner)
