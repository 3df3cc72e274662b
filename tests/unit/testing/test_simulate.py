"""A broken promise is told with the command that plays it again."""

from collections import Counter

from agent_ls.testing.simulate import Tally
from agent_ls.testing.world import History


def history(seed: int, *wrong: str) -> History:
    return History(seed, wrong, ("line",), Counter({"crash": 1}), 5)


def test_a_failing_seed_is_told_with_the_command_that_plays_it_again() -> None:
    tally = Tally()
    for one in (history(3), history(7, "5: a message is gone", "more"), history(8)):
        tally.add(one)
    assert tally.told().splitlines() == [
        "seed 7: 5: a message is gone",
        "  play it again: make simulate SEED=7",
        "3 histories, 15 events; 3 x crash",
    ]


def test_tallies_of_several_processes_add_up() -> None:
    first, second = Tally(), Tally()
    first.add(history(1, "wrong"))
    second.add(history(2))
    first.plus(second)
    assert (first.histories, first.events, first.broken, first.seen["crash"]) == (2, 10, {1: ("wrong",)}, 2)
