"""What a person judges shows all of what will run (case B32)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ls.core.display import escaped, hidden, named, one_line, warning


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("git status", "git status"),
        ("rm \u202etxt.x", "rm ⟨U+202E⟩txt.x"),
        ("curl\u200bevil", "curl⟨U+200B⟩evil"),
        ("a\x1b[2Kb", "a⟨U+001B⟩[2Kb"),
        ("a\x9b2Jb", "a⟨U+009B⟩2Jb"),
        ("rm x\recho y", "rm x⟨U+000D⟩echo y"),
        ("a\u2066b\u2069", "a⟨U+2066⟩b⟨U+2069⟩"),
        ("a\u00a0b", "a⟨U+00A0⟩b"),
        ("a\u3164b", "a⟨U+3164⟩b"),
        ("a\U000e0041b", "a⟨U+E0041⟩b"),
        ("a\ud800b", "a⟨U+D800⟩b"),
        ("ls" + " " * 4000 + "; rm -rf d", "ls ⟨4000 spaces⟩ ; rm -rf d"),
        ("ls" + "\n" * 300 + "rm", "ls ⟨300 line ends⟩ rm"),
        ("a\nb\tc", "a\nb\tc"),
        ("é 北 🌍", "é 北 🌍"),
    ],
)
def test_what_would_not_be_seen_is_shown_by_name(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_a_title_is_one_line_and_never_hides_its_end() -> None:
    title = one_line("echo " + "x" * 5000 + "\n; rm -rf d")
    assert len(title) < 200
    assert title.startswith("echo xxx")
    assert title.endswith("⏎; rm -rf d")
    assert "more…" in title


def test_hidden_characters_are_said_and_plain_text_is_not_warned_of() -> None:
    assert warning("git status") is None
    assert hidden("a\u202eb\u202ec\u200b") == ("⟨U+202E⟩", "⟨U+200B⟩")
    assert warning("a\u202eb") == "Holds characters that would not be seen; they are shown by name: ⟨U+202E⟩."


@given(st.text())
def test_what_is_shown_holds_nothing_hidden_whatever_comes(text: str) -> None:
    assert hidden(escaped(text)) == ()
    assert hidden(named(text)) == ()
    assert hidden(one_line(text)) == ()
    assert "\n" not in one_line(text)
