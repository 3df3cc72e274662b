"""Lines: the first that a diff changes, and where one has gone when something was typed above it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ls.core import diff
from agent_ls.core.text import Text
from agent_ls.editor.surface.places import first_changed_line, line_of, moved


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", 1),
        ("a\nb\nc\n", "a\nb\n", 2),
        ("a\nb\nc\n", "a\nnew\nb\nc\n", 1),
        ("a\nb\nc\n", "a\nb\nc\nd\n", 3),
        ("", "a\n", 0),
        ("a\n", "", 0),
        ("--- a\n+++ b\n@@ -9 +9 @@\nx\n", "--- a\n+++ b\n@@ -9 +9 @@\ny\n", 3),
        ("a", "a\n", 0),
        ("".join(f"{n}\n" for n in range(40)), "".join(f"{n if n != 30 else 'x'}\n" for n in range(40)), 30),
    ],
)
def test_the_first_changed_line_of_a_diff_is_that_of_the_old_text(before: str, after: str, line: int) -> None:
    assert first_changed_line(diff.of_rewrite(before, after, "a.txt")) == line


def test_a_diff_without_a_hunk_changes_the_first_line() -> None:
    assert first_changed_line("--- /dev/null\n+++ b/x\n\\ A new, empty file.\n") == 0
    assert first_changed_line("") == 0


Position = tuple[int, int]
Typed = tuple[list[Position], str]

SPANS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=2, max_size=2).map(sorted)
TYPED = st.tuples(SPANS, st.sampled_from(["", "x", "\n", "x\ny\n", "\n\n"]))


@given(st.lists(TYPED, max_size=6))
def test_a_line_that_nobody_touches_is_found_again_whatever_is_typed_around_it(typed: list[Typed]) -> None:
    around = "".join(f"{n}\n" for n in range(4))
    text, line = Text(f"{around}here\n{around}"), 4
    for span, new in typed:
        start, end = (text.place(*position) for position in span)
        if start <= (line, 4) and end > (line, 0):
            continue
        change = {"range": {"start": _json(start), "end": _json(end)}, "text": new}
        line = moved(line, [change])
        text.change([change])
        assert "here" in text.lines[line]


def test_what_is_no_change_moves_nothing_and_a_deleted_line_leaves_the_place_where_it_was() -> None:
    for nonsense in (None, {}, [None], [{"range": {}}], [{"text": "\n"}], [{"range": {"start": 1}, "text": "\n"}]):
        assert moved(5, nonsense) == 5
    cut = {"range": {"start": _json((3, 1)), "end": _json((9, 0))}, "text": ""}
    assert moved(5, [cut]) == 3


def test_a_line_is_read_only_where_there_is_a_position() -> None:
    assert line_of({"range": {"start": {"line": 3, "character": 0}}}, "range", "start") == 3
    for wrong in ({}, None, [], {"range": None}, {"range": {"start": {"line": -1, "character": 0}}}):
        assert line_of(wrong, "range", "start") is None


def _json(place: Position) -> dict[str, int]:
    return {"line": place[0], "character": place[1]}
