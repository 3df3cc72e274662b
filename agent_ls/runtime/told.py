"""What a person is told of a model's trouble: the end of a run, or that it is asked again.

Owns the words. Does not own what a failure means (adapters.models) nor whether it is worth another try (core.retry).
"""

from collections.abc import Mapping
from typing import Final

from agent_ls.core.errors import HINTS, Code
from agent_ls.core.failure import Cause, Failure
from agent_ls.core.items import Notice
from agent_ls.core.retry import Plan

CODES: Final[Mapping[Cause, Code]] = {
    Cause.UNAUTHORIZED: Code.UNAUTHORIZED,
    Cause.NO_CREDIT: Code.UNAUTHORIZED,
    Cause.RATE_LIMITED: Code.RATE_LIMITED,
    Cause.OVERLOADED: Code.RATE_LIMITED,
    Cause.NOT_FOUND: Code.PROVIDER_UNAVAILABLE,
    Cause.OVERFLOW: Code.CONTEXT_OVERFLOW,
}

# Where the sentence says already what the hint would: (what it says, what remains to be said).
_SAID: Final[Mapping[Code, tuple[str, str]]] = {
    Code.UNAUTHORIZED: ("`agent-ls doctor`", "Correct it, run `agent-ls restart`, and send the message again."),
    Code.PROVIDER_ERROR: ("Send the message again", "`agent-ls log` has the details."),
}


def notice_of(failure: Failure, *, tried: int = 0, back_s: float | None = None) -> Notice:
    """Why the run ends. `tried` times it was asked again; `back_s`: when the server wants to be asked next."""
    code = CODES.get(failure.cause, Code.PROVIDER_ERROR)
    message = f"{failure.message} ({failure.detail})" if failure.detail else failure.message
    if back_s is not None:
        message += f" It wants to be asked again in {in_words(back_s)}."
    if tried:
        message += f" It was asked {tried + 1} times."
    said, otherwise = _SAID.get(code, ("", ""))
    return Notice(code=str(code), message=message, hint=otherwise if said and said in message else HINTS[code])


def again(failure: Failure, plan: Plan) -> str:
    """The reason without what the person could do: it is being done."""
    reason = failure.message.partition(". ")[0].rstrip(".")
    detail = f" ({failure.detail})" if failure.detail else ""
    return f"{reason}{detail}. Asking again after {in_words(plan.wait_s)} ({plan.n} of {plan.of})."


def in_words(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s".replace(".0 ", " ")
    minutes = round(seconds / 60)
    return f"{minutes} minutes" if minutes < 120 else f"{round(minutes / 60)} hours"
