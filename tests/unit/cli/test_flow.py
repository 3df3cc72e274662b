"""A streamed answer is broken between words, however it is cut into pieces."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ls.cli.cells import width
from agent_ls.cli.flow import Flow
from agent_ls.cli.screen import Screen
from agent_ls.cli.terminal import complain

PIECES = st.lists(st.text("ab \n日-", max_size=12), max_size=12)


def flowed(pieces: list[str], columns: int) -> str:
    flow = Flow()
    return "".join(flow.feed(piece, columns) for piece in [*pieces, "\n"]).removesuffix("\n")


def test_a_word_that_does_not_fit_begins_the_next_line() -> None:
    assert flowed(["one tw", "o thr", "ee four"], 10) == "one two\nthree four"


def test_what_belongs_to_a_list_stays_under_it() -> None:
    assert (
        flowed(["- one two three\n  1. four five six\n"], 10) == "- one two\n  three\n  1. four\n     five\n     six\n"
    )


def test_code_is_left_as_it_is() -> None:
    code = "```py\nx = 'a long line of code'\n```\n"
    assert flowed([code + "and words again"], 10) == code + "and words\nagain"


def test_a_word_that_is_longer_than_a_line_is_for_the_terminal() -> None:
    assert flowed(["a 0123456789012 b"], 8) == "a\n0123456789012\nb"


def test_signs_without_blanks_between_them_do_not_wait() -> None:
    flow = Flow()
    assert flow.feed("日本語日", 6) == "日本語\n日"


@given(PIECES, st.integers(4, 20))
def test_no_sign_is_lost_and_no_line_too_long(pieces: list[str], columns: int) -> None:
    shown = flowed(pieces, columns)
    text = "".join(pieces)
    assert shown.replace(" ", "").replace("\n", "") == text.replace(" ", "").replace("\n", "")
    words = max((width(word) for word in text.split()), default=0)
    assert all(width(line) <= max(columns, words + 5) for line in shown.split("\n"))


@given(PIECES, st.integers(4, 20))
def test_how_it_is_cut_makes_no_difference(pieces: list[str], columns: int) -> None:
    assert flowed(pieces, columns) == flowed(["".join(pieces)], columns)


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "shown"), [(Tty(), "one two three four\nfive\n"), (io.StringIO(), "one two three four five\n")]
)
def test_an_answer_is_broken_on_a_terminal_and_nowhere_else(
    stream: io.StringIO, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    screen = Screen(answer=stream, activity=io.StringIO())
    for delta in ("one two th", "ree four fi"):
        screen.stream({"itemId": "i", "delta": delta})
    item = {"id": "i", "kind": "assistant_message", "payload": {"text": "one two three four five"}}
    screen.event({"kind": "item", "entity": item})
    assert stream.getvalue() == shown


def test_errors_are_broken_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stderr", stderr := Tty())
    complain("The file was not found anywhere.", "Look for it elsewhere.")
    assert stderr.getvalue() == "agent-ls: The file was\n  not found anywhere.\n  Look for it elsewhere.\n"
