"""The input line does what a person's fingers expect."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_ls.cli.cells import width
from agent_ls.cli.chat.editor import Editor, rows
from agent_ls.cli.chat.keys import Key

NAMED = [
    "backspace", "delete", "left", "right", "up", "down",
    "home", "end", "word-left", "word-right", "word-delete", "newline",
    "ctrl-k", "ctrl-u", "ctrl-w", "ctrl-y", "ctrl-p", "ctrl-n",
]  # fmt: skip
keys = st.lists(
    st.one_of(
        st.sampled_from(NAMED).map(Key), st.text("ab 語é\u0301\n", min_size=1, max_size=5).map(lambda t: Key("text", t))
    )
)


@pytest.mark.parametrize(
    ("pressed", "text", "at"),
    [
        (["left", "left", "backspace"], "one wo", 4),
        (["ctrl-w"], "one ", 4),
        (["ctrl-w", "ctrl-u", "ctrl-y"], "one ", 4),
        (["home", "word-right", "ctrl-k"], "one", 3),
        (["word-left", "word-delete", "ctrl-y", "ctrl-y"], "one twotwo", 10),
        (["home", "delete"], "ne two", 0),
        (["newline", "up", "end"], "one two\n", 7),
    ],
)
def test_editing_keys(pressed: list[str], text: str, at: int) -> None:
    editor = typed("one two")
    for name in pressed:
        editor.key(Key(name))
    assert (editor.text, editor.at) == (text, at)


def test_the_past_comes_back_and_the_draft_is_kept() -> None:
    editor = Editor(["first", "second"])
    editor.insert("draft")
    seen = []
    for name in ("up", "up", "up", "down", "down"):
        editor.key(Key(name))
        seen.append(editor.text)
    assert seen == ["second", "first", "first", "second", "draft"]


def test_up_goes_through_the_lines_before_it_goes_into_the_past() -> None:
    editor = Editor(["before"])
    editor.insert("one\ntwo")
    editor.key(Key("up"))
    assert (editor.text, editor.at) == ("one\ntwo", 3)
    editor.key(Key("up"))
    assert editor.text == "before"


def test_a_backslash_at_the_end_goes_on_in_a_new_line() -> None:
    editor = typed("one\\")
    assert (editor.goes_on(), editor.text) == (True, "one\n")
    assert (editor.goes_on(), editor.take(), editor.text) == (False, "one\n", "")


def test_a_sign_made_of_several_is_one_step() -> None:
    editor = typed("e\u0301x")
    editor.key(Key("left"))
    editor.key(Key("backspace"))
    assert (editor.text, editor.at) == ("x", 0)


@settings(deadline=None)
@given(keys, st.integers(4, 12))
def test_rows_hold_the_whole_text_and_the_cursor_stands_within(pressed: list[Key], columns: int) -> None:
    editor = Editor(["past one", "past two"])
    for key in pressed:
        editor.key(key)
    made, (row, column) = rows(editor, columns)
    assert "".join(made) == editor.text.replace("\n", "")
    assert all(width(text) <= columns for text in made)
    assert 0 <= editor.at <= len(editor.text)
    assert 0 <= row < len(made)
    assert 0 <= column <= width(made[row])


def typed(text: str) -> Editor:
    editor = Editor()
    editor.insert(text)
    return editor
