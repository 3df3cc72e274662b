"""Locks: no two conflicting holders, nobody starves, nothing deadlocks, and a look-up does not count all locks."""

import sys
from dataclasses import dataclass, field
from types import FrameType

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_ls.core.locks import Line, Ticket, conflicts, covers


def test_a_folder_covers_what_is_beneath_it_and_not_its_namesake() -> None:
    assert covers("file:///w", "file:///w/a/b")
    assert covers("file:///w/", "file:///w")
    assert covers("file:///", "file:///w")
    assert not covers("file:///w", "file:///w2/a")
    assert not covers("file:///w/a", "file:///w")
    assert conflicts("file:///w/a", "file:///w")
    assert not conflicts("file:///w/a", "file:///w/b")


def test_two_calls_on_one_file_go_one_after_the_other() -> None:
    line = Line()
    first, second, other = (line.ask(who, [key]) for who, key in [("a", "f:/x"), ("b", "f:/x"), ("c", "f:/y")])
    assert line.held == (first, other)
    assert line.waiting == (second,)
    assert line.release(first) == (second,)
    assert line.release(first) == ()


def test_who_waits_for_a_folder_is_not_overtaken_by_who_wants_a_file_in_it() -> None:
    line = Line()
    edit = line.ask("a", ["f:/w/x"])
    shell = line.ask("b", ["f:/w"])
    later = line.ask("c", ["f:/w/y"])
    elsewhere = line.ask("d", ["f:/v/y"])
    assert line.waiting == (shell, later)
    assert line.holds(elsewhere)
    assert line.release(edit) == (shell,)
    assert line.release(shell) == (later,)


def test_what_a_holder_already_covers_is_given_at_once() -> None:
    line = Line()
    outer = line.ask("a", ["f:/w"])
    waiting = line.ask("b", ["f:/w/x"])
    inner = line.ask("a", ["f:/w/x"])
    assert line.held == (outer, inner)
    assert line.release(outer) == ()
    assert line.release(inner) == (waiting,)


def test_a_call_that_leaves_the_line_lets_those_behind_it_go() -> None:
    line = Line()
    line.ask("a", ["f:/w/x"])
    shell = line.ask("b", ["f:/w"])
    later = line.ask("c", ["f:/w/y"])
    assert line.release(shell) == (later,)


def test_all_keys_are_taken_at_once_or_none() -> None:
    line = Line()
    first = line.ask("a", ["f:/x"])
    both = line.ask("b", ["f:/x", "f:/y", "f:/y/"])
    assert line.held == (first,)
    assert line.release(first) == (both,)
    assert [key.rstrip("/") for key in both.keys] == ["f:/x", "f:/y"]


@dataclass
class Naive:
    """The rules word by word, looking at everything each time."""

    held: list[Ticket] = field(default_factory=list)
    waiting: list[Ticket] = field(default_factory=list)

    def ask(self, ticket: Ticket) -> None:
        mine = [key for held in self.held if held.holder == ticket.holder for key in held.keys]
        covered = all(any(covers(own, key) for own in mine) for key in ticket.keys)
        if covered or self.free(ticket):
            self.held.append(ticket)
        else:
            self.waiting.append(ticket)

    def free(self, ticket: Ticket) -> bool:
        others = [held for held in self.held if held.holder != ticket.holder]
        earlier = [other for other in self.waiting if other.number < ticket.number]
        return not any(ticket.conflicts(other) for other in others + earlier)

    def release(self, ticket: Ticket) -> list[Ticket]:
        (self.held if ticket in self.held else self.waiting).remove(ticket)
        went = []
        while (ready := next((one for one in self.waiting if self.free(one)), None)) is not None:
            self.waiting.remove(ready)
            self.held.append(ready)
            went.append(ready)
        return went


KEYS = st.sampled_from(
    ["f:/", "f:/w", "f:/w/a", "f:/w/a/x", "f:/w/a/y", "f:/w/b", "f:/w2", "f:/v", "f:/v/a", "untitled:1", "f:/w/"]
)
ASKS = st.tuples(st.sampled_from("abcde"), st.lists(KEYS, min_size=1, max_size=3))
STEPS = st.lists(st.one_of(ASKS, st.integers(min_value=0, max_value=50)), max_size=60)


@settings(deadline=None, max_examples=300)
@given(STEPS)
def test_the_line_does_what_the_rules_say_and_everybody_gets_their_turn(
    steps: list[tuple[str, list[str]] | int],
) -> None:
    line, naive = Line(), Naive()
    live: list[Ticket] = []
    for step in steps:
        if isinstance(step, int):
            if live:
                _release(line, naive, live.pop(step % len(live)))
        else:
            ticket = line.ask(*step)
            naive.ask(ticket)
            live.append(ticket)
        _agrees(line, naive)
    while line.held:
        _release(line, naive, line.held[0])
        _agrees(line, naive)
    assert line.waiting == ()


def _release(line: Line, naive: Naive, ticket: Ticket) -> None:
    assert sorted(line.release(ticket), key=_number) == sorted(naive.release(ticket), key=_number)


def _agrees(line: Line, naive: Naive) -> None:
    assert sorted(line.held, key=_number) == sorted(naive.held, key=_number)
    assert list(line.waiting) == naive.waiting
    for one in line.held:
        for other in line.held:
            assert one.holder == other.holder or not one.conflicts(other)


def _number(ticket: Ticket) -> int:
    return ticket.number


def test_a_look_up_costs_with_8_000_locks_about_what_it_costs_with_none() -> None:
    """In calls of functions, which no busy machine changes; in time: benchmarks/pieces.py."""
    line = Line()
    alone = _calls(line)
    for conversation in range(64):
        for file in range(125):
            line.ask(f"c{conversation}", [f"file:///home/me/w{conversation}/src/f{file}.py"])
    assert len(line.held) == 8_000
    blocked = line.ask("late", ["file:///home/me"])
    assert line.waiting == (blocked,)
    assert _calls(line) < 2 * alone


def _calls(line: Line) -> int:
    """Functions called, built-in ones too, for one lock that is got and given back."""
    count = 0

    def called(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(called)
    try:
        line.release(line.ask("other", ["file:///srv/w/src/f.py"]))
    finally:
        sys.setprofile(None)
    return count
