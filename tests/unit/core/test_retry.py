"""When a model is asked again: what is worth it, how long it waits, and how often."""

import pytest

from agent_ls.core.failure import Cause, Failure
from agent_ls.core.retry import Never, Plan, plan

NOW = "2026-01-01T12:00:00.000Z"


def failed(cause: Cause, status: int | None = None, retry_after: str | None = None) -> Failure:
    return Failure(cause, "It broke.", status=status, retry_after=retry_after)


def waits(failure: Failure, *, jitter: float = 0.5, most: int | None = None) -> list[float]:
    """The waits of a run in which nothing else happens."""
    found: list[float] = []
    while isinstance(decided := plan(failure, retries=len(found), most=most, jitter=jitter, now=NOW), Plan):
        found.append(decided.wait_s)
    return found


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (failed(Cause.NETWORK), [1, 2, 4]),
        (failed(Cause.CUT), [1, 2, 4]),
        (failed(Cause.TIMEOUT, 408), [1, 2, 4]),
        (failed(Cause.RATE_LIMITED, 429), [1, 2, 4]),
        (failed(Cause.SERVER, 500), [1, 2, 4]),
        (failed(Cause.OVERLOADED, 503), [1, 2, 4]),
        (failed(Cause.OVERLOADED, 529), [5, 10, 20]),
        (failed(Cause.SERVER, 520), [5, 10, 20]),
        (failed(Cause.OVERLOADED, 409), [10, 20, 40, 80, 120]),
        (failed(Cause.EMPTY), [0.5, 1.0, 1.5]),
    ],
)
def test_the_table(failure: Failure, expected: list[float]) -> None:
    assert waits(failure) == expected


@pytest.mark.parametrize(
    "cause",
    [Cause.UNAUTHORIZED, Cause.NO_CREDIT, Cause.NOT_FOUND, Cause.OVERFLOW, Cause.INVALID, Cause.NONSENSE],
)
@pytest.mark.parametrize("status", [None, 400, 429, 500])
def test_what_asking_again_does_not_change_is_never_tried_again(cause: Cause, status: int | None) -> None:
    assert waits(failed(cause, status, "1")) == []


def test_waits_of_many_daemons_are_spread() -> None:
    assert waits(failed(Cause.NETWORK), jitter=0.0) == [0.75, 1.5, 3.0]
    assert waits(failed(Cause.NETWORK), jitter=1.0) == [1.25, 2.5, 5.0]


@pytest.mark.parametrize(("most", "tries"), [(0, 0), (1, 1), (9, 3)])
def test_the_person_may_want_fewer_tries(most: int, tries: int) -> None:
    assert len(waits(failed(Cause.NETWORK), most=most)) == tries


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2", 2.0),
        ("0.5", 0.5),
        ("120", 120.0),
        ("Thu, 01 Jan 2026 12:00:03 GMT", 3.0),
        *[(junk, 1.0) for junk in ("Thu, 01 Jan 2026 11:00:00 GMT", "-1", "0", "soon", "", "nan", "inf", "1e999", "²")],
    ],
)
def test_the_server_may_say_when(value: str, expected: float) -> None:
    decided = plan(failed(Cause.RATE_LIMITED, 429, value), retries=0, most=None, jitter=0.5, now=NOW)
    assert decided == Plan(expected, 1, 3)


@pytest.mark.parametrize("value", ["86400", "Fri, 02 Jan 2026 12:00:00 GMT"])
def test_what_it_wants_too_late_ends_the_run_and_says_when(value: str) -> None:
    decided = plan(failed(Cause.RATE_LIMITED, 429, value), retries=0, most=None, jitter=0.5, now=NOW)
    assert decided == Never(back_s=86400.0)
