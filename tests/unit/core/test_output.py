"""Output becomes bounded, clean, valid text, however its bytes are cut into pieces."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ls.core.output import Folder, Live, Ring, text_of

PIECES = st.lists(
    st.sampled_from(
        [
            b"a",
            b"bc",
            b"\n",
            b"\r",
            b"\r\n",
            b"\x1b[31m",
            b"\x1b[",
            b"0m",
            b"\x1b]0;t\x07",
            b"\x1b",
            b"\xc3",
            b"\xa9",
            b"\0",
        ]
    ),
    max_size=40,
)


def fold(*pieces: bytes) -> bytes:
    folder = Folder()
    return b"".join(folder.feed(piece) for piece in pieces) + folder.finish()


@given(PIECES, st.integers(min_value=1, max_value=7))
def test_where_the_pieces_are_cut_changes_nothing(pieces: list[bytes], size: int) -> None:
    data = b"".join(pieces)
    assert fold(*(data[i : i + size] for i in range(0, len(data), size))) == fold(data)


def test_codes_go_and_overwritten_lines_are_folded() -> None:
    assert fold(b"\x1b[1;31mred\x1b[0m\n") == b"red\n"
    assert fold(b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n") == b"link\n"
    assert fold(b"1%\r2%\r", b"3%\r\n", b"next") == b"3%\nnext"
    assert fold(b"a\r\nb\r\n") == b"a\nb\n"


def test_a_line_without_an_end_and_a_code_without_an_end_are_not_held_for_ever() -> None:
    folder = Folder()
    assert len(folder.feed(b"x" * 100_000)) == 100_000
    assert len(fold(b"\x1b]0;", *[b"y" * 1000] * 100)) > 90_000


@given(st.lists(st.binary(max_size=50), max_size=30))
def test_both_ends_are_kept_and_the_cut_is_stated(pieces: list[bytes]) -> None:
    ring = Ring(head=20, tail=30)
    for piece in pieces:
        ring.feed(piece)
    data = b"".join(pieces)
    assert ring.size == len(data)
    if len(data) <= 50:
        assert (ring.cut, ring.text()) == (0, text_of(data))
    else:
        assert ring.cut == len(data) - 50
        assert "bytes left out …]" in ring.text()


def test_the_cut_never_splits_a_character() -> None:
    ring = Ring(head=4, tail=4)
    ring.feed("ééé€€é".encode())
    assert ring.text() == "éé\n[… 6 bytes left out …]\né".replace("6", str(14 - 4 - 2))


def test_text_holds_no_control_character_and_what_was_taken_back_is_gone() -> None:
    assert text_of(b"abc\b\b\bx\0\x07\xff\t\n") == "x\ufffd\ufffd\ufffd\t\n"


@given(st.binary())
def test_text_is_always_valid(data: bytes) -> None:
    text_of(data).encode()


def watch(live: Live, *pieces: bytes) -> list[str]:
    folder = Folder()
    return [live.feed(folder.feed(piece), folder.unfinished(), 0.0) for piece in pieces]


def test_what_is_watched_comes_at_once_and_an_overwritten_line_begins_anew() -> None:
    live = Live(burst=1000, per_second=0)
    assert watch(live, b"Pass", b"word: ", b"ok\nnext") == ["Pass", "word: ", "ok\nnext"]
    assert watch(Live(burst=1000, per_second=0), b"1%", b"\r2%", b"\r3%\n") == ["1%", "", "\n3%\n"]


def test_a_character_cut_in_two_is_watched_whole() -> None:
    assert watch(Live(burst=1000, per_second=0), b"a\xc3", b"\xa9\n") == ["a", "é\n"]


def test_a_flood_is_thinned_out_and_said_so() -> None:
    live = Live(burst=10, per_second=10)
    assert live.feed(b"x" * 10, b"", 0.0) == "x" * 10
    assert live.feed(b"y" * 10, b"", 0.0) == ""
    assert live.feed(b"z\n", b"", 1.0) == "\n[… 10 bytes not shown here …]\nz\n"
    assert live.feed(b"w" * 100, b"", 1.0) == ""
    assert live.finish(b"", "the end") == "\n[… 100 bytes not shown here, the last of them below …]\nthe end"


@pytest.mark.parametrize(
    "data",
    [
        b"x" * 60_000 + b"\r\n",
        b"\x1b]" * 30_000,
        b"\x1b[3" * 20_000,
        b"a\r" * 30_000,
        b"\r" * 60_000,
        b"\x1bP" * 30_000,
    ],
)
def test_no_output_takes_long_to_clean(data: bytes) -> None:
    folder = Folder()
    started = process_time()
    folder.feed(data)
    assert process_time() - started < 0.5
