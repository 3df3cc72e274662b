"""Only attempts of which nothing came count, and the fifth of them is the last."""

from dataclasses import replace

import pytest

from agent_ls.core.effects import TAKEN_UP, begun_again, drive, next_attempt, wait_before

FRESH = drive("c.r1.a1", "c")


def test_a_daemon_that_died_is_counted_and_the_next_one_begins_at_once() -> None:
    attempt = next_attempt(FRESH, seq=4, moved=False)
    begun = begun_again(FRESH, attempt, seq=5)
    assert (begun.attempts, begun.seq, begun.last_error) == (2, 5, TAKEN_UP)
    assert [wait_before(n) for n in (1, 2, 3, 4, 5, 6)] == [0, 0, 1, 2, 4, None]


@pytest.mark.parametrize(("seq", "moved", "attempt"), [(5, False, 5), (6, False, 2), (5, True, 2)])
def test_what_came_of_the_last_one_begins_the_count_anew(*, seq: int, moved: bool, attempt: int) -> None:
    assert next_attempt(begun_again(FRESH, 4, seq=5), seq=seq, moved=moved) == attempt


def test_what_was_left_on_purpose_is_not_held_against_it() -> None:
    left = replace(FRESH, attempts=0)
    attempt = next_attempt(left, seq=9, moved=False)
    begun = begun_again(left, attempt, seq=9)
    assert (begun.attempts, begun.last_error) == (1, None)
