"""The drawing model: whatever is drawn in whatever order, the terminal shows what it was told to show."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_ls.cli.cells import clip
from agent_ls.cli.chat.screen import Live, Screen
from tests.terminal import Screen as Emulated

COLUMNS, ROWS = 20, 8
text = st.text(st.sampled_from("ab 語é─"), max_size=30)
rows = st.lists(text, min_size=1, max_size=12)
frames = st.lists(st.tuples(st.lists(text, max_size=4), rows, st.integers(0, 11), st.integers(0, 30)), max_size=8)


@settings(deadline=None)
@given(frames)
def test_lines_stay_in_order_and_the_live_part_stands_once_below_them(drawn: list) -> None:
    screen, shown = Screen(COLUMNS, ROWS), Emulated(COLUMNS, ROWS)
    said: list[str] = []
    for lines, live, row, column in drawn:
        cursor = (min(row, len(live) - 1), column)
        shown.feed(screen.draw(lines, Live(tuple(live), cursor)))
        said += [part for line in lines for part in broken(line)]
        first = max(0, min(cursor[0], len(live) - (ROWS - 1)))
        kept = [clip(line, COLUMNS - 1).rstrip() for line in live[first : first + ROWS - 1]]
        assert shown.lines == without_blank_end(said + kept)
        below = len(shown.scrolled) + shown.row - len(said)
        assert (below, shown.column) == (cursor[0] - first, min(column, COLUMNS - 1))


def test_what_did_not_change_is_not_written_again() -> None:
    screen = Screen(40, 10)
    screen.draw([], Live(("one", "two", "three"), (2, 0)))
    assert screen.draw([], Live(("one", "two", "three"), (2, 0))) == ""
    again = screen.draw([], Live(("one", "two", "four"), (2, 0)))
    assert ("four" in again, "one" in again, "two" in again) == (True, False, False)


def test_a_narrower_terminal_that_broke_the_rows_again_is_drawn_clean() -> None:
    screen, shown = Screen(40, 10), Emulated(20, 10)
    screen.draw([], Live(("─" * 39, "> typed", "status"), (1, 7)))
    # What a terminal makes of it: the rule takes two rows now.
    shown.feed("─" * 39 + "\r\n> typed\r\nstatus\x1b[1A\r\x1b[7C")
    screen.resized(20, 10)
    shown.feed(screen.draw([], Live(("─" * 19, "> typed", "status"), (1, 7))))
    assert shown.lines == ["─" * 19, "> typed", "status"]


def test_clear_leaves_nothing_of_the_live_part() -> None:
    screen, shown = Screen(40, 10), Emulated(40, 10)
    shown.feed(screen.draw(["said"], Live(("a", "b", "c"), (1, 1))))
    shown.feed(screen.clear())
    assert shown.lines == ["said"]


def broken(line: str) -> list[str]:
    """As a terminal breaks a line that is too long."""
    emulated = Emulated(COLUMNS, 8)
    emulated.feed(line + "\r\nend")
    return emulated.lines[:-1]


def without_blank_end(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines
