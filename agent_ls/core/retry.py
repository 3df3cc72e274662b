"""When a model is asked again after a failure, how long that waits, and when it is no use.

Owns the policy, in one table. Does not own the facts of a wait (wait.py) nor the waiting (runtime.driver). Chance and
time come in as values.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from agent_ls.core.failure import Cause, Failure

LONGEST_S: Final = 120.0
"""Longer than that nobody waits in front of a screen: it is said when to come back, and the run ends."""

JITTER: Final = 0.25
_BUSY: Final = 409
_HTTP_DATE: Final = "%a, %d %b %Y %H:%M:%S GMT"


@dataclass(frozen=True)
class Rule:
    """The first wait is `base_s`; each further one doubles, or grows by as much again where it is `linear`.

    `most`: how often a run is tried again for such a reason, counted over all of its waits.
    """

    base_s: float
    most: int = 3
    linear: bool = False


RULES: Final[Mapping[Cause, Rule]] = {
    Cause.NETWORK: Rule(1.0),
    Cause.TIMEOUT: Rule(1.0),
    Cause.CUT: Rule(1.0),
    Cause.RATE_LIMITED: Rule(1.0),
    Cause.OVERLOADED: Rule(1.0),
    Cause.SERVER: Rule(1.0),
    Cause.EMPTY: Rule(0.5, linear=True),
}
"""What is not in it is never tried again: asking once more changes nothing about a wrong key or a full window."""

BUSY: Final = Rule(10.0, most=5)
STRUGGLING: Final = Rule(5.0)


@dataclass(frozen=True)
class Plan:
    """Wait `wait_s`, then ask again: try `n` of `of`."""

    wait_s: float
    n: int
    of: int


@dataclass(frozen=True)
class Never:
    """`back_s`: the server itself said when to come back, and that is too far off."""

    back_s: float | None = None


def plan(
    failure: Failure, *, retries: int, most: int | None, jitter: float, now: str, made: int | None = None
) -> Plan | Never:
    """`retries` count against the budget, `made` are all of the run; `most` is the person's own bound on those;
    `jitter` lies between 0 and 1."""
    rule = rule_of(failure)
    if rule is None:
        return Never()
    bound = rule.most if most is None else min(rule.most, most)
    if retries >= bound or (most is not None and (made or 0) >= most):
        return Never()
    asked = retry_after(failure.retry_after, now)
    if asked is not None and asked > LONGEST_S:
        return Never(back_s=asked)
    return Plan(asked if asked is not None else _backoff(rule, retries, jitter), retries + 1, bound)


def rule_of(failure: Failure) -> Rule | None:
    rule = RULES.get(failure.cause)
    if rule is None:
        return None
    if failure.status == _BUSY:
        return BUSY
    return STRUGGLING if failure.status is not None and 520 <= failure.status < 530 else rule


def retry_after(value: str | None, now: str) -> float | None:
    """Seconds from `now`, out of seconds or a date; None for what is past, negative or no time at all."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        seconds = _until(value, now)
    return seconds if math.isfinite(seconds) and seconds > 0 else None


def _until(value: str, now: str) -> float:
    try:
        when = datetime.strptime(value.strip(), _HTTP_DATE).replace(tzinfo=UTC)
        return (when - datetime.fromisoformat(now)).total_seconds()
    except (ValueError, OverflowError, TypeError):
        return math.nan


def _backoff(rule: Rule, retries: int, jitter: float) -> float:
    if rule.linear:
        return rule.base_s * (retries + 1)
    spread = 1 + JITTER * (2 * jitter - 1)
    return float(min(rule.base_s * 2**retries * spread, LONGEST_S))
