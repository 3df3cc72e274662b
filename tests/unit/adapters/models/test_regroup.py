"""Chunks made one: what the library makes of an answer is the same with and without, whole, cut anywhere or garbled."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import h11
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_ls.adapters.models.regroup import Regrouping

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
ASKED = b"POST /v1 HTTP/1.1\r\n\r\n"


def chunk(text: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(text), text)


def chunked(texts: Sequence[bytes]) -> bytes:
    return HEAD + b"".join(map(chunk, texts)) + b"0\r\n\r\n"


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    borders = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[one:other] for one, other in pairwise(borders)]


def understood(pieces: Sequence[bytes]) -> tuple[list[Any], bytes, str]:
    """(heads, body, how it ended) as the library sees it."""
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="POST", target="/v1", headers=[("Host", "x")]))
    connection.send(h11.EndOfMessage())
    heads: list[Any] = []
    body = b""
    for piece in [*pieces, b""]:
        try:
            connection.receive_data(piece)
            while (event := connection.next_event()) is not h11.NEED_DATA:
                match event:
                    case h11.Data():
                        body += bytes(event.data)
                    case h11.EndOfMessage():
                        return heads, body, "whole"
                    case h11.Response() | h11.InformationalResponse():
                        heads.append((event.status_code, list(event.headers)))
                    case _:
                        return heads, body, "closed"
        except h11.RemoteProtocolError:
            return heads, body, "broken"
    return heads, body, "open"


def regrouped(pieces: Sequence[bytes]) -> list[bytes]:
    regrouping = Regrouping()
    regrouping.asked(ASKED)
    return [made for piece in pieces if (made := regrouping.feed(piece))]


TEXTS = st.lists(st.binary(min_size=1, max_size=40), max_size=12)
PLACES = st.lists(st.integers(min_value=0, max_value=2000), max_size=12)


@given(TEXTS, PLACES)
def test_an_answer_is_the_same_however_it_is_cut(texts: list[bytes], places: list[int]) -> None:
    pieces = cut(chunked(texts), places)
    assert understood(regrouped(pieces)) == understood(pieces) == understood([chunked(texts)])
    assert understood(pieces)[1:] == (b"".join(texts), "whole")


@given(TEXTS, PLACES, st.integers(min_value=0), st.binary(max_size=3), st.integers(min_value=0, max_value=3))
@example([b"abc", b"hello"], [], len(HEAD) + 6, b"", 2)
@example([b"abc", b"hello"], [len(HEAD) + 6, len(HEAD) + 7], len(HEAD) + 6, b"x", 2)
def test_what_is_wrong_with_an_answer_stays_wrong(
    texts: list[bytes], places: list[int], at: int, put: bytes, gone: int
) -> None:
    answer = chunked(texts)
    at %= len(answer)
    pieces = cut(answer[:at] + put + answer[at + gone :], places)
    assert understood(regrouped(pieces)) == understood(pieces)


def test_chunks_that_came_together_are_one() -> None:
    texts = [b"data: %d\n\n" % number for number in range(100)]
    assert regrouped([chunked(texts)]) == [HEAD + chunk(b"".join(texts)) + b"0\r\n\r\n"]


def test_nothing_is_kept_back_that_can_be_read() -> None:
    regrouping = Regrouping()
    regrouping.asked(ASKED)
    assert regrouping.feed(HEAD) == HEAD
    assert regrouping.feed(chunk(b"one") + b"5\r\nha") == chunk(b"oneha")
    assert regrouping.feed(b"lf.\r") == chunk(b"lf.")
    assert regrouping.feed(b"\n4") == b""
    assert regrouping.feed(b"\r\nlast\r\n0\r\n\r\n") == chunk(b"last") + b"0\r\n\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n3\r\nabc\r\n0\r\n",
        b"HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(b"a") + chunk(b"b") + b"0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + chunk(b"a") + chunk(b"b"),
        b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(b"a") + chunk(b"b"),
        b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\r\n\r\n" + chunk(b"a") + chunk(b"b"),
        HEAD + b"1;name=value\r\na\r\n1\r\nb\r\n0\r\n\r\n",
        HEAD[:-2] + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(b"a") + chunk(b"b"),
    ],
    ids=["a length", "an error", "packed", "HTTP/1.0", "a bare line end", "an extension", "named twice"],
)
def test_what_is_out_of_the_ordinary_goes_on_as_it_came(answer: bytes) -> None:
    assert b"".join(regrouped(cut(answer, range(0, len(answer), 7)))) == answer


def test_an_interim_answer_comes_before_the_one_that_counts() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    assert regrouped([early + chunked([b"a", b"b"])]) == [early + HEAD + chunk(b"ab") + b"0\r\n\r\n"]


def test_each_request_begins_a_new_answer() -> None:
    regrouping = Regrouping()
    for _ in range(3):
        regrouping.asked(ASKED)
        assert regrouping.feed(chunked([b"a", b"b"])) == HEAD + chunk(b"ab") + b"0\r\n\r\n"
    regrouping.asked(b"CONNECT models.invalid:443 HTTP/1.1\r\n\r\n")
    assert regrouping.feed(chunked([b"a", b"b"])) == chunked([b"a", b"b"])
