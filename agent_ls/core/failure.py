"""Why a model gave no answer, in words of no provider.

Owns the causes and what is known of one failure. Does not own how a server's words become a cause (adapters.models),
nor what is tried again (retry.py).
"""

from dataclasses import dataclass
from enum import StrEnum


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
    """`message` is a sentence for the person; `detail` the server's own words, shortened.

    `retry_after` is the header as it came; `shown`: something of an answer had been seen before.
    """

    cause: Cause
    message: str
    detail: str = ""
    status: int | None = None
    retry_after: str | None = None
    shown: bool = False
