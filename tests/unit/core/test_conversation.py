"""What a person may change of a conversation, and how it gets its name."""

from dataclasses import replace

import pytest

from agent_ls.core.conversation import TITLE_LENGTH, Change, Mode, title_from, update
from agent_ls.core.errors import Code, Refusal
from tests.unit.core.world import conversation


def test_a_change_touches_only_what_it_names() -> None:
    old = conversation(title="old")
    changed = update(old, Change(title=" new ", archived=True), "t2", may_auto=False)
    assert changed == replace(old, title="new", archived=True, updated_at="t2")
    assert update(old, Change(provider="q", model="n"), "t2", may_auto=False) == replace(
        old, provider="q", model="n", updated_at="t2"
    )


def test_a_title_cannot_be_taken_away() -> None:
    refused = update(conversation(title="old"), Change(title="  "), "t2", may_auto=False)
    assert isinstance(refused, Refusal)
    assert refused.code is Code.INVALID_PARAMS


def test_a_conversation_without_a_title_can_be_changed_otherwise() -> None:
    changed = update(conversation(), Change(mode=Mode.EDITS), "t2", may_auto=False)
    assert changed == conversation(mode=Mode.EDITS, updated_at="t2")


def test_mode_auto_has_to_be_allowed_by_the_person_first() -> None:
    refused = update(conversation(title="x"), Change(mode=Mode.AUTO), "t2", may_auto=False)
    assert isinstance(refused, Refusal)
    assert refused.code is Code.PERMISSION_DENIED
    allowed = update(conversation(title="x"), Change(mode=Mode.AUTO), "t2", may_auto=True)
    assert not isinstance(allowed, Refusal)
    assert allowed.mode is Mode.AUTO


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("\n  Fix the parser \nand more", "Fix the parser"),
        ("", "New conversation"),
        ("word " * 30, "word word word word word word word word word word word…"),
        ("x" * 100, "x" * (TITLE_LENGTH - 1) + "…"),
    ],
)
def test_a_title_is_the_first_line_cut_at_a_word(text: str, title: str) -> None:
    assert title_from(text) == title
    assert len(title_from(text)) <= TITLE_LENGTH
