"""What a model server's trouble means, and the sentence for the person.

Owns the way from status, code and text to a cause. Does not decide what is tried again (core.retry), nor move bytes
(http). Codes are looked at before texts; a text only speaks where no code does.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from agent_ls.ports.provider import Cause, Failure

DETAIL_LENGTH: Final = 500

BY_CODE: Final[Mapping[str, Cause]] = {
    "context_length_exceeded": Cause.OVERFLOW,
    "context_window_exceeded": Cause.OVERFLOW,
    "context_overflow": Cause.OVERFLOW,
    "exceed_context_size_error": Cause.OVERFLOW,
    "insufficient_quota": Cause.NO_CREDIT,
    "insufficient_credits": Cause.NO_CREDIT,
    "insufficient_balance": Cause.NO_CREDIT,
    "billing_error": Cause.NO_CREDIT,
    "billing_not_active": Cause.NO_CREDIT,
    "billing_hard_limit_reached": Cause.NO_CREDIT,
    "invalid_api_key": Cause.UNAUTHORIZED,
    "authentication_error": Cause.UNAUTHORIZED,
    "permission_error": Cause.UNAUTHORIZED,
    "model_not_found": Cause.NOT_FOUND,
    "rate_limit_exceeded": Cause.RATE_LIMITED,
    "rate_limit_error": Cause.RATE_LIMITED,
    "overloaded_error": Cause.OVERLOADED,
    "server_error": Cause.SERVER,
    "api_error": Cause.SERVER,
    "not_found_error": Cause.NOT_FOUND,
    "request_too_large": Cause.OVERFLOW,
    "timeout_error": Cause.TIMEOUT,
}

BY_STATUS: Final[Mapping[int, Cause]] = {
    401: Cause.UNAUTHORIZED,
    402: Cause.NO_CREDIT,
    403: Cause.UNAUTHORIZED,
    404: Cause.NOT_FOUND,
    408: Cause.TIMEOUT,
    409: Cause.OVERLOADED,
    413: Cause.OVERFLOW,
    425: Cause.RATE_LIMITED,
    429: Cause.RATE_LIMITED,
    503: Cause.OVERLOADED,
    504: Cause.TIMEOUT,
    529: Cause.OVERLOADED,
}

# Only for answers that already say "invalid request": the same words in a plain 500 prove nothing.
OVERFLOW_TEXT: Final = re.compile(
    r"context[ _](?:length|window|size|limit)|prompt is too long|maximum context|exceeds? the (?:available )?context"
    r"|max_tokens.{0,20}exceed|too many (?:input )?tokens|input (?:length|is too long)|context the overflow",
    re.IGNORECASE,
)

NO_CREDIT_TEXT: Final = re.compile(r"credit balance is too low", re.IGNORECASE)
INVALID_CODES: Final = frozenset({"invalid_request_error", "invalid_prompt"})
WRONG_KEY_TEXT: Final = re.compile(r"api key (?:is )?(?:not valid|invalid)|invalid api key", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """Whom a request was for, as far as a sentence may tell. `key_source` names where the key came from, never it."""

    provider: str
    base_url: str
    model: str
    key_source: str | None = None
    secret: str | None = None

    @property
    def address(self) -> str:
        """The base URL without name and password."""
        try:
            parts = urlsplit(self.base_url)
        except ValueError:
            return "(an address that is none)"
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


@dataclass(frozen=True)
class ServerError:
    """The server's own words: `code` is its stable name for the fault, where it has one."""

    message: str = ""
    code: str = ""
    status: int | None = None


def error_in(payload: Any) -> ServerError | None:
    """The error in a decoded body, in any of the dresses that servers use; None where there is none."""
    if isinstance(payload, list) and payload:
        payload = payload[0]
    if not isinstance(payload, dict):
        return None
    error = payload.get("error")
    if isinstance(error, str) and error:
        return ServerError(error)
    if isinstance(error, dict):
        return _from_object(error)
    if payload.get("object") == "error" or payload.get("type") == "error":
        return _from_object(payload)
    if "choices" not in payload and "detail" in payload:
        detail = payload["detail"]
        return ServerError(detail if isinstance(detail, str) else json.dumps(detail))
    return None


def from_status(spoken: Spoken, status: int, body: bytes, *, retry_after: str | None = None) -> Failure:
    """The failure behind an HTTP answer that is not a success."""
    try:
        error = error_in(json.loads(body))
    except ValueError:
        error = None
    error = error or ServerError(plain(body))
    return _failure(spoken, error, status, retry_after=retry_after)


def from_error(spoken: Spoken, error: ServerError, *, shown: bool) -> Failure:
    """The failure behind an error that came inside a 200."""
    return _failure(spoken, error, error.status, shown=shown)


def nonsense(spoken: Spoken, what: str, *, sample: str = "", shown: bool = False) -> Failure:
    message = (
        f"{spoken.address} {what}. Check that base_url of provider {spoken.provider!r} is the address of its API"
        " (it often ends in /v1)."
    )
    return Failure(Cause.NONSENSE, message, detail=shorten(spoken, sample), shown=shown)


def cut(spoken: Spoken, *, shown: bool, detail: str = "") -> Failure:
    message = f"The connection to {spoken.address} ended in the middle of the answer. Send the message again."
    return Failure(Cause.CUT, message, detail=shorten(spoken, detail), shown=shown)


def empty(spoken: Spoken) -> Failure:
    return Failure(
        Cause.EMPTY, f"{spoken.model!r} gave an empty answer. Send the message again, or choose another model."
    )


def overflow(spoken: Spoken, *, detail: str = "", status: int | None = None) -> Failure:
    return Failure(
        Cause.OVERFLOW, _sentence(Cause.OVERFLOW, spoken, status), detail=shorten(spoken, detail), status=status
    )


def timeout(spoken: Spoken, what: str, *, shown: bool = False) -> Failure:
    message = f"{spoken.address} {what}. Send the message again; if the server is only slow, raise the limit in [http]."
    return Failure(Cause.TIMEOUT, message, shown=shown)


def shorten(spoken: Spoken, text: str) -> str:
    """The server's words, on one line, without the key even if the server repeats it."""
    if spoken.secret:
        text = text.replace(spoken.secret, "[key]")
    text = " ".join(text.split())
    return text if len(text) <= DETAIL_LENGTH else text[: DETAIL_LENGTH - 1] + "…"


def _from_object(error: dict[str, Any]) -> ServerError:
    code, kind = error.get("code"), error.get("type")
    status = code if isinstance(code, int) and 400 <= code < 600 else None
    if isinstance(code, str) and code.isdigit():
        status = int(code) if 400 <= int(code) < 600 else None
    names = [name for name in (code, kind) if isinstance(name, str)]
    known = next((name for name in names if name in BY_CODE), names[0] if names else "")
    message = error.get("message")
    return ServerError(message if isinstance(message, str) else json.dumps(error), known, status)


def _failure(
    spoken: Spoken,
    error: ServerError,
    status: int | None,
    *,
    retry_after: str | None = None,
    shown: bool = False,
) -> Failure:
    cause = _cause(error, status)
    return Failure(
        cause,
        _sentence(cause, spoken, status, about=error),
        detail=shorten(spoken, error.message),
        status=status,
        retry_after=retry_after,
        shown=shown,
    )


def _cause(error: ServerError, status: int | None) -> Cause:
    if error.code in BY_CODE and not (error.code == "server_error" and status in BY_STATUS):
        return BY_CODE[error.code]
    if (status is None or status in {400, 413, 422}) and OVERFLOW_TEXT.search(error.message):
        return Cause.OVERFLOW
    if status == 400 and WRONG_KEY_TEXT.search(error.message):
        return Cause.UNAUTHORIZED
    if status in {None, 400} and NO_CREDIT_TEXT.search(error.message):
        return Cause.NO_CREDIT
    if status is None:
        return Cause.INVALID if error.code in INVALID_CODES else Cause.SERVER
    return BY_STATUS.get(status, Cause.SERVER if status >= 500 else Cause.INVALID)


def _sentence(cause: Cause, spoken: Spoken, status: int | None, *, about: ServerError | None = None) -> str:
    who = f"{spoken.provider!r} ({spoken.address})"
    key = spoken.key_source or f"the key of provider {spoken.provider!r} in config.toml"
    match cause:
        case Cause.UNAUTHORIZED if spoken.secret is None:
            return f"{who} wants a key and none was sent. Set {key}; `agent-ls doctor` shows what was found."
        case Cause.UNAUTHORIZED:
            return f"{who} refused the key. Check {key}; `agent-ls doctor` shows where it comes from."
        case Cause.NO_CREDIT:
            return f"The account at {who} has no credit left. Top it up there, or choose another provider."
        case Cause.RATE_LIMITED:
            return f"{who} takes no more requests just now. Wait a little, then send the message again."
        case Cause.OVERLOADED:
            return f"{who} is overloaded just now. Wait a little, then send the message again."
        case Cause.NOT_FOUND if about is not None and _names_the_model(about, spoken.model):
            return f"{who} does not know the model {spoken.model!r}. `agent-ls models` lists what it offers."
        case Cause.NOT_FOUND:
            return (
                f"{who} knows neither this address nor, perhaps, the model {spoken.model!r}. Check base_url (it often"
                " ends in /v1); `agent-ls models` lists what it offers."
            )
        case Cause.OVERFLOW:
            return f"The conversation is too long for {spoken.model!r}. Start a new one, or use a larger model."
        case Cause.TIMEOUT:
            return f"{who} gave up waiting for itself. Send the message again."
        case Cause.INVALID if status is not None and 300 <= status < 400:
            return f"{who} sends requests on to another address. Put that address into base_url."
        case Cause.INVALID:
            return f"{who} refused the request as invalid ({status}). `agent-ls log` has its words."
        case _:
            return f"{who} failed{f' ({status})' if status else ''}. Send the message again in a moment."


def _names_the_model(error: ServerError, model: str) -> bool:
    return error.code == "model_not_found" or model in error.message or "model" in error.message.lower()


def plain(body: bytes) -> str:
    """What a person would read of a body that is not JSON."""
    text = body[:20_000].decode("utf-8", "replace")
    if "<" in text:
        text = re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL | re.IGNORECASE)
    return text
