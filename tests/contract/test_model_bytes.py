"""Each model wire and the bytes of a stream: however they are cut and dressed, the answer is the same."""

import json
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ls.adapters.models.decode import AnswerDecoder
from agent_ls.adapters.models.failures import Spoken
from agent_ls.core.items import Usage
from agent_ls.core.messages import CallPart, Reply, Stop, TextPart
from agent_ls.ports.provider import Cause, Failure, Frame, Model, TextFrame
from agent_ls.testing.model_scenario import Raw, Say, Tokens
from tests.contract.model_line import WIRES, line, stream
from tests.contract.model_words import TEXT, sse, words

SPOKEN = Spoken(provider="p", base_url="http://localhost/v1", model="m")
WHOLE = Reply((TextPart(TEXT),), Stop.END_TURN, Usage(input_tokens=7, output_tokens=2), "m")
DRESSES: dict[str, dict[str, object]] = {
    "usual": {},
    "no space": {"colon": "data:"},
    "crlf": {"end": "\r\n"},
    "cr": {"end": "\r"},
    "several lines": {"indent": 1},
    "all": {"colon": "data:", "end": "\r\n", "indent": 2},
}


def decoder(wire: Callable[..., Model]) -> AnswerDecoder:
    made = wire(name="p", base_url="http://localhost/v1")._decoder(SPOKEN)  # type: ignore[attr-defined]
    assert isinstance(made, AnswerDecoder)
    return made


def decode(wire: Callable[..., Model], *chunks: bytes) -> tuple[Reply | Failure, list[Frame]]:
    reader = decoder(wire)
    frames = [frame for chunk in chunks for frame in reader.feed(chunk)]
    return reader.end(), frames


@pytest.mark.anyio
@pytest.mark.parametrize("fragment", [1, 2, 3, 7])
async def test_bytes_may_be_cut_anywhere_on_their_way(wire: Callable[..., Model], fragment: int) -> None:
    async with line(wire, stream(Say(TEXT), fragment=fragment)) as to:
        assert (await to.reply()).parts == (TextPart(TEXT),)


@pytest.mark.parametrize("dress", sorted(DRESSES))
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_an_answer_is_the_same_in_every_dress_and_for_every_cut(
    wire: Callable[..., Model], dress: str, bom: bytes
) -> None:
    how = DRESSES[dress]
    body = bom + b"".join(sse(event, **how) for event in words(wire).whole)  # type: ignore[arg-type]
    expected = (WHOLE, [TextFrame(0, TEXT)])
    assert decode(wire, body) == expected
    assert decode(wire, *(body[at : at + 1] for at in range(len(body)))) == expected
    for cut in range(len(body)):
        assert decode(wire, body[:cut], body[cut:]) == expected


@pytest.mark.parametrize("name", sorted(WIRES))
@given(cuts=st.lists(st.integers(0, 2000), max_size=30))
def test_any_number_of_cuts_gives_the_same_reply_and_frames(name: str, cuts: list[int]) -> None:
    wire = WIRES[name]
    body = b"".join(sse(event) for event in words(wire).whole)
    places = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    assert decode(wire, *(body[a:b] for a, b in pairwise(places))) == (WHOLE, [TextFrame(0, TEXT)])


@pytest.mark.anyio
async def test_keep_alives_do_no_harm(wire: Callable[..., Model]) -> None:
    usual = b"id: 7\n\n: ping\n\nevent: ping\n\nevent: keepalive\ndata:\n\ndata: : keepalive\n\n"
    pings = Raw(usual + b"".join(words(wire).life))
    async with line(wire, stream(pings, Say("a"), pings, Say("b"), pings)) as to:
        assert (await to.reply()).parts == (TextPart("ab"),)


@pytest.mark.anyio
async def test_events_with_nothing_in_them_do_no_harm(wire: Callable[..., Model]) -> None:
    odd = Raw(b"".join(map(sse, words(wire).odd)))
    async with line(wire, stream(Say(""), odd, Say("a"), odd, usage=Tokens(7, 2))) as to:
        used = Usage(input_tokens=7, output_tokens=2)
        assert await to.reply() == Reply((TextPart("a"),), Stop.END_TURN, used, "scripted-1")


def test_a_last_event_without_its_blank_line_was_cut(wire: Callable[..., Model]) -> None:
    result, frames = decode(wire, b"".join(map(sse, words(wire).whole))[:-1])
    assert isinstance(result, Failure)
    assert (result.cause, result.shown, frames) == (Cause.CUT, True, [TextFrame(0, TEXT)])


def test_without_the_streams_own_end_it_was_cut_though_done_is_said(wire: Callable[..., Model]) -> None:
    # Chat Completions takes [DONE] for an end; the others have an event for it.
    *most, _ = words(wire).whole
    result, _ = decode(wire, *map(sse, most), b"data: [DONE]\n\n")
    if decoder(wire).ENDS_AT_DONE:
        assert result == WHOLE
    else:
        assert isinstance(result, Failure)
        assert (result.cause, result.shown) == (Cause.CUT, True)


def test_a_finish_is_an_end_of_chat_completions_without_done() -> None:
    assert decode(WIRES["chat"], *map(sse, words(WIRES["chat"]).whole))[0] == WHOLE


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("overloaded_error", Cause.OVERLOADED),
        ("rate_limit_exceeded", Cause.RATE_LIMITED),
        ("rate_limit_error", Cause.RATE_LIMITED),
        ("api_error", Cause.SERVER),
        ("server_error", Cause.SERVER),
        ("context_length_exceeded", Cause.OVERFLOW),
        ("invalid_request_error", Cause.INVALID),
    ],
)
@pytest.mark.parametrize("after", [0, -1])
def test_an_error_inside_a_good_answer_is_an_error(
    wire: Callable[..., Model], code: str, cause: Cause, after: int
) -> None:
    before = words(wire).whole[:after]
    result, frames = decode(wire, *map(sse, before), sse(words(wire).error(code, "the words of it")))
    assert isinstance(result, Failure)
    assert (result.cause, result.detail, result.shown) == (cause, "the words of it", bool(frames))


@pytest.mark.parametrize("name", sorted(WIRES))
def test_the_stream_of_another_wire_is_no_answer(name: str) -> None:
    for other in sorted(WIRES.keys() - {name}):
        result, frames = decode(WIRES[name], *map(sse, words(WIRES[other]).whole))
        assert isinstance(result, Failure)
        assert (result.cause in {Cause.CUT, Cause.NONSENSE}, frames) == (True, [])


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("a\ud83d|\ude00b", "a\U0001f600b"),
        ("\ud83d|\ude00", "\U0001f600"),
        ("a\ud83d|b", "a\ufffdb"),
        ("c\ude00|b", "c\ufffdb"),
        ("a|\ud83d", "a\ufffd"),
        ("\ud83d|\ud83d|\ude00", "\ufffd\U0001f600"),
    ],
)
async def test_halves_of_a_character_in_two_events_are_one_and_a_lone_half_is_none(said: str, shown: str) -> None:
    chunks = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in said.split("|")]
    at = len('{"x":"a')
    whole = json.dumps({"x": said.replace("|", "")}, ensure_ascii=False)
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": whole[:at]}}
    rest = {"index": 0, "function": {"arguments": whole[at:]}}
    calls = [{"choices": [{"index": 0, "delta": {"tool_calls": [part]}}]} for part in (call, rest)]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    body = [f"data: {json.dumps(event)}\n\n".encode() for event in (*chunks, *calls, end)]
    reply, frames = decode(WIRES["chat"], *body)
    assert isinstance(reply, Reply)
    text, used = reply.parts
    assert isinstance(text, TextPart)
    assert isinstance(used, CallPart)
    assert (text.text, json.loads(used.arguments)) == (shown, {"x": shown})
    streamed = "".join(frame.delta for frame in frames if isinstance(frame, TextFrame))
    assert streamed == shown.removesuffix("\ufffd") if said.endswith("\ud83d") else streamed == shown
