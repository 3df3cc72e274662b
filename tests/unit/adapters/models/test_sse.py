"""Server-sent events come out the same however their bytes were cut (B01, B03, B04)."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ls.adapters.models.sse import Event, SseDecoder

GLOBE = "data: " + '{"d":"北🌍"}' + "\n\n"


def decoded(*chunks: bytes) -> list[Event]:
    decoder = SseDecoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)]


@pytest.mark.parametrize("at", range(len(GLOBE.encode())))
def test_a_character_cut_in_two_stays_whole(at: int) -> None:
    body = GLOBE.encode()
    assert decoded(body[:at], body[at:]) == [Event("message", '{"d":"北🌍"}')]


@pytest.mark.parametrize(
    "keep_alive",
    ["id: 7\n\n", ": ping\n\n", ":\n\n", "event: ping\n\n", "event: keepalive\ndata:\n\n", "retry: 5\n\n", "\n\n\n"],
)
def test_signs_of_life_are_no_events(keep_alive: str) -> None:
    assert decoded(f"{keep_alive}data: a\n\n{keep_alive}data: b\n\n".encode()) == [
        Event("message", "a"),
        Event("message", "b"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        'data:{"a": 1}\n\n',
        'data: {"a": 1}\r\n\r\n',
        'data: {"a": 1}\r\r',
        'data: {"a":\ndata: 1}\n\n',
        '\ufeffdata: {"a": 1}\n\n',
        '\ufeff\r\ndata: {"a":\r\ndata: 1}\r\n\r\n',
    ],
)
def test_one_event_in_all_its_dresses(body: str) -> None:
    raw = body.encode()
    whole, by_byte = decoded(raw), decoded(*(raw[at : at + 1] for at in range(len(raw))))
    assert whole == by_byte
    assert [event.data.replace("\n", " ") for event in whole] == ['{"a": 1}']


def test_carriage_return_and_line_feed_in_two_chunks_are_one_line_end() -> None:
    assert decoded(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\ndata: c\n\n") == [
        Event("message", "a\nb"),
        Event("message", "c"),
    ]


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c"])
def test_only_line_feed_and_carriage_return_end_a_line(sign: str) -> None:
    assert decoded(f"data: a{sign}b\n\n".encode()) == [Event("message", f"a{sign}b")]


def test_the_name_of_an_event_holds_for_that_event_only() -> None:
    assert decoded(b"event: delta\ndata: a\n\ndata: b\n\n") == [Event("delta", "a"), Event("message", "b")]


def test_a_last_event_without_its_blank_line_was_cut() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\n\ndata: b\n") == [Event("message", "a")]
    assert decoder.cut
    decoder.feed(b"\n")
    assert not decoder.cut


def test_an_event_without_an_end_is_given_up() -> None:
    decoder = SseDecoder(largest=1000)
    for _ in range(11):
        decoder.feed(b"data: " + b"x" * 100)
    assert decoder.too_large


@given(
    lines=st.lists(
        st.sampled_from(["data: ä", "data:🌍", "data: a\u2028b", ": ping", "event: e", "id: 7", "", "data", "junk"])
    ),
    ends=st.lists(st.sampled_from(["\n", "\r", "\r\n"]), min_size=1),
    bom=st.booleans(),
    cuts=st.lists(st.integers(0, 200)),
)
def test_any_cut_gives_the_same_events(lines: list[str], ends: list[str], cuts: list[int], *, bom: bool) -> None:
    text = "".join(line + ends[at % len(ends)] for at, line in enumerate(lines))
    body = (("\ufeff" if bom else "") + text).encode()
    places = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    assert decoded(*(body[a:b] for a, b in pairwise(places))) == decoded(body)
