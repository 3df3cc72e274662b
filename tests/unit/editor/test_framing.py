"""Bytes to messages: every legal form is taken, everything else is told or ends the link, nothing gets stuck (B67)."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ls.bridge.frames import LONGEST_SKIP
from agent_ls.editor.framing import BadMessage, LostBorder, MessageDecoder, encode

MESSAGE = {"jsonrpc": "2.0", "method": "m", "params": {"text": "北京😀"}}
BODY = json.dumps(MESSAGE, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: %d\r\n\r\n",
        b"content-length: %d\r\n\r\n",
        b"CONTENT-LENGTH:%d\r\n\r\n",
        b"Content-Length: %d\n\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: %d\r\nContent-Type: text/plain\r\n\r\n",
        b"\r\n\r\nContent-Length: %d\r\n\r\n",
    ],
)
def test_every_legal_header_form_is_taken(header: bytes) -> None:
    wire = header % len(BODY) + BODY
    assert MessageDecoder().feed(wire + wire) == [MESSAGE, MESSAGE]


@given(st.lists(st.integers(0, 3 * (len(BODY) + 25)), max_size=20))
def test_it_does_not_matter_how_the_bytes_are_cut(cuts: list[int]) -> None:
    wire = encode(MESSAGE) * 3
    borders = [0, *sorted(min(cut, len(wire)) for cut in cuts), len(wire)]
    decoder = MessageDecoder()
    found = [message for start, end in pairwise(borders) for message in decoder.feed(wire[start:end])]
    assert found == [MESSAGE, MESSAGE, MESSAGE]


def test_one_byte_at_a_time_gives_the_same_message() -> None:
    decoder = MessageDecoder()
    assert [found for byte in encode(MESSAGE) for found in decoder.feed(bytes([byte]))] == [MESSAGE]


@pytest.mark.parametrize("body", [b"{", b"", b"\xff\xfe", b'"\xe5\x8c"', b"[" * 100_000])
def test_a_body_that_is_not_json_is_told_and_the_link_lives(body: bytes) -> None:
    wire = b"Content-Length: %d\r\n\r\n" % len(body) + body + encode(MESSAGE)
    assert MessageDecoder().feed(wire) == [
        BadMessage(-32700, "A message is not JSON in UTF-8. Send it again."),
        MESSAGE,
    ]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"[]", "Batches are not supported. Send one message a frame."),
        (b"7", "A message is not an object."),
    ],
)
def test_what_is_no_single_object_is_told_and_the_link_lives(body: bytes, sentence: str) -> None:
    wire = b"Content-Length: %d\r\n\r\n" % len(body) + body + encode(MESSAGE)
    assert MessageDecoder().feed(wire) == [BadMessage(-32600, sentence), MESSAGE]


def test_a_message_over_the_limit_is_told_and_skipped() -> None:
    long = b"x" * 1001
    wire = b"Content-Length: 1001\r\n\r\n" + long + encode({"jsonrpc": "2.0", "method": "m"})
    assert MessageDecoder(longest=1000).feed(wire) == [
        BadMessage(-32600, "A message of 1001 bytes is over the limit of 1000 and was not read. Send less."),
        {"jsonrpc": "2.0", "method": "m"},
    ]


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        (BODY, "a line where a header should be is not `Name: value`"),
        (
            b"Content-Length: 2\r\n\r\n{}}Content-Length: 2\r\n\r\n",
            "a line where a header should be is not `Name: value`",
        ),
        (b"GET / HTTP/1.1\r\n", "a line where a header should be is not `Name: value`"),
        (b"Content-Type: x\r\n\r\n", "a header has no Content-Length"),
        (b"Content-Length: -5\r\n\r\n", "Content-Length is not a number of bytes"),
        (b"Content-Length: 0x10\r\n\r\n", "Content-Length is not a number of bytes"),
        (b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n", "a header holds two different lengths"),
        (b"X: " + b"y" * 9000, "the header does not end"),
        (
            b"Content-Length: %d\r\n\r\n" % (LONGEST_SKIP + 1),
            f"a message of {LONGEST_SKIP + 1} bytes was announced, the limit is 67108864",
        ),
    ],
)
def test_a_lost_border_is_told_once_and_nothing_more_is_read(wire: bytes, reason: str) -> None:
    decoder = MessageDecoder()
    found = decoder.feed(wire)
    assert found[-1] == LostBorder(f"The border between two messages is lost: {reason}.")
    assert decoder.feed(encode(MESSAGE)) == []


@pytest.mark.parametrize("off", [-1, 1])
def test_a_length_that_is_off_by_one_ends_the_link_with_the_next_message(off: int) -> None:
    wire = b"Content-Length: %d\r\n\r\n" % (len(BODY) + off) + BODY + encode(MESSAGE)
    found = MessageDecoder().feed(wire)
    assert [type(message) for message in found] == [BadMessage, LostBorder]


def test_half_a_surrogate_pair_travels_escaped() -> None:
    message = {"jsonrpc": "2.0", "method": "m", "params": {"text": "\ud83d"}}
    assert MessageDecoder().feed(encode(message)) == [message]


def test_a_number_that_json_does_not_have_is_not_sent() -> None:
    with pytest.raises(ValueError, match="JSON"):
        encode({"jsonrpc": "2.0", "result": float("nan")})
