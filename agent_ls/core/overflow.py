"""A request that the server calls too large: how that is seen, and what is said where nothing helps.

Owns the case that no word of the server tells. Codes and texts of servers are read by the wires (adapters.models).
"""

from typing import Final

from agent_ls.core.failure import Cause, Failure
from agent_ls.core.items import Notice

NEARLY_FULL: Final = 0.95
_BAD_REQUEST: Final = 400


def is_overflow(failure: Failure, *, size: int, window: int | None) -> bool:
    """As the server said it; or a refusal without a word, of a request that all but fills the window."""
    if failure.cause is Cause.OVERFLOW:
        return True
    wordless = failure.cause is Cause.INVALID and failure.status == _BAD_REQUEST and not failure.detail.strip()
    return wordless and window is not None and size >= window * NEARLY_FULL


def still_too_large(failure: Failure, *, size: int, tried: int) -> Notice:
    times = {0: "It could not be compacted any further.", 1: "It was compacted once."}
    message = (
        f"{failure.message} It needs about {size:,} tokens now. {times.get(tried, f'It was compacted {tried} times.')}"
    )
    hint = "Use a model with a larger window, or start a new conversation with less attached."
    return Notice(code="context_overflow", message=message, hint=hint)
