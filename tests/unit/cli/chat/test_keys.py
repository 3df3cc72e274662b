"""Bytes of a terminal become keys, in whatever pieces they arrive."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_ls.cli.chat.keys import Decoder, Key

KEYS = {
    b"\r": "enter",
    b"\n": "newline",
    b"\x1b\r": "newline",
    b"\x1b[13;2u": "newline",
    b"\x1b[27;2;13~": "newline",
    b"\x03": "ctrl-c",
    b"\x04": "ctrl-d",
    b"\x7f": "backspace",
    b"\t": "tab",
    b"\x1b[A": "up",
    b"\x1bOB": "down",
    b"\x1b[3~": "delete",
    b"\x1b[1;5D": "word-left",
    b"\x1bf": "word-right",
    b"\x1b[H": "home",
    b"\x1b[4~": "end",
}


@pytest.mark.parametrize(("data", "name"), KEYS.items())
def test_a_sequence_is_one_key(data: bytes, name: str) -> None:
    assert Decoder().feed(data) == [Key(name)]


@settings(deadline=None)
@given(st.lists(st.sampled_from([*KEYS, b"text", "ü語".encode(), b"\x1b[200~a\rb\x1b[201~"])), st.data())
def test_the_pieces_in_which_bytes_arrive_change_nothing(parts: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    decoder, keys = Decoder(), []
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        keys += decoder.feed(whole[start:end])
    assert joined(keys) == joined(Decoder().feed(whole))


def test_what_was_typed_in_one_piece_is_one_key() -> None:
    assert Decoder().feed("now ü\r".encode()) == [Key("text", "now ü"), Key("enter")]


def test_pasted_lines_are_text_and_no_enter() -> None:
    assert Decoder().feed(b"\x1b[200~y\r\nrm -rf\x1b[31m x\x1b[201~") == [Key("paste", "y\nrm -rf[31m x")]


def test_a_lone_escape_is_a_key_once_nothing_follows() -> None:
    decoder = Decoder()
    assert decoder.feed(b"\x1b") == []
    assert (decoder.unfinished, decoder.flush(), decoder.unfinished) == (True, [Key("escape")], False)


def joined(keys: list[Key]) -> list[Key]:
    made: list[Key] = []
    for key in keys:
        before = made.pop().text if key.name == "text" and made and made[-1].name == "text" else ""
        made.append(Key(key.name, before + key.text))
    return made
