"""Each model wire when the server is silent, absent, wrong or angry: always a failure with a way out."""

from collections.abc import Callable

import anyio
import pytest

from agent_ls.adapters.models.http import HttpLimits
from agent_ls.core.messages import TextPart
from agent_ls.ports.provider import Cause, Failure, Model
from agent_ls.testing.model_scenario import (
    Gate,
    Http,
    InOrder,
    Pause,
    Raw,
    Say,
    Silence,
    Step,
    Stream,
    say,
)
from agent_ls.testing.model_server import serve_model
from tests.contract.model_line import TINY, asked, line, stream
from tests.contract.model_words import words

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("steps", "shown", "says"),
    [
        ((Silence(),), False, "did not begin to answer within 0.2 s"),
        ((Say("a"), Silence()), True, "fell silent for 0.2 s"),
    ],
)
async def test_a_silent_stream_is_given_up(
    wire: Callable[..., Model],
    steps: tuple[Step, ...],
    says: str,
    *,
    shown: bool,
) -> None:
    async with line(wire, stream(*steps), http=TINY) as to:
        failure = await to.failure()
        assert (failure.cause, failure.shown) == (Cause.TIMEOUT, shown)
        assert says in failure.message
        with anyio.fail_after(5):
            await to.server.until(lambda: to.server.abandoned == 1)


async def test_a_server_that_never_answers_is_given_up(wire: Callable[..., Model]) -> None:
    async with line(wire, Http(status=200, gate=Gate()), http=TINY) as to:
        failure = await to.failure()
        assert (failure.cause, failure.shown) == (Cause.TIMEOUT, False)


async def test_signs_of_life_are_believed_for_a_while_only(wire: Callable[..., Model]) -> None:
    limits = HttpLimits(local_first_byte_s=0.2, idle_s=0.2, pings_only_s=0.4)
    pings = [step for _ in range(100) for life in words(wire).life for step in (Raw(life), Pause(0.02))]
    async with line(wire, stream(Say("a"), *pings), http=limits) as to:
        failure = await to.failure()
        assert (failure.cause, failure.shown) == (Cause.TIMEOUT, True)
        assert "only signs of life" in failure.message


async def test_the_key_goes_with_each_call_and_may_change(wire: Callable[..., Model]) -> None:
    keys = iter(["wrong", "right"])
    async with line(wire, say("a"), key="right", api_key=lambda: next(keys), key_source="MY_KEY") as to:
        failure = await to.failure()
        assert (failure.cause, failure.status) == (Cause.UNAUTHORIZED, 401)
        assert "Check MY_KEY" in failure.message
        assert "wrong" not in repr(failure)
        assert (await to.reply()).parts == (TextPart("a"),)


async def test_without_a_key_no_server_far_away_is_asked(wire: Callable[..., Model]) -> None:
    model = wire(name="mine", base_url="https://models.invalid/v1", api_key=lambda: None, key_source="MY_KEY")
    with anyio.fail_after(5):
        failure = await model.call(asked(), lambda _: None)
    assert isinstance(failure, Failure)
    assert failure.cause is Cause.UNAUTHORIZED
    assert "Set MY_KEY" in failure.message


async def test_an_unknown_model_is_named(wire: Callable[..., Model]) -> None:
    async with line(wire) as to:
        failure = await to.failure(model="no-such")
        assert (failure.cause, failure.status) == (Cause.NOT_FOUND, 404)
        assert "does not know the model 'no-such'" in failure.message


async def test_a_server_that_is_not_there_is_named(wire: Callable[..., Model]) -> None:
    async with serve_model(InOrder([])) as server:
        address = server.base_url
    model = wire(name="mine", base_url=address)
    with anyio.fail_after(5):
        failure = await model.call(asked(), lambda _: None)
        listed = await model.models()
    await model.close()
    assert isinstance(failure, Failure)
    assert failure.cause is Cause.NETWORK
    assert failure.message.startswith(f"No server answers at {address}.")
    assert listed == failure


@pytest.mark.parametrize("address", ["not a url", "ftp://x/v1", "http://:99999/v1", "http://[::1/v1", ""])
async def test_an_address_that_is_none_is_a_sentence(wire: Callable[..., Model], address: str) -> None:
    model = wire(name="mine", base_url=address)
    with anyio.fail_after(5):
        failure = await model.call(asked(), lambda _: None)
    await model.close()
    assert isinstance(failure, Failure)
    assert failure.cause is Cause.INVALID
    assert "base_url of provider 'mine'" in failure.message


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (Http(status=200, body="<html>Welcome</html>"), Cause.NONSENSE),
        (Http(status=200, body={"hello": 1}), Cause.NONSENSE),
        (stream(Raw(b"\x00\xff\xfe junk\n\n" * 50)), Cause.NONSENSE),
        (Http(status=200, body={"error": {"message": "boom"}}), Cause.SERVER),
        (Http(status=503, body="<h1>down</h1>"), Cause.OVERLOADED),
        (Http(status=307, headers={"Location": "http://localhost/v2"}), Cause.INVALID),
        (Http(status=200, body=b"x" * 10, headers={"Content-Encoding": "gzip"}), Cause.CUT),
    ],
)
async def test_what_is_no_answer_is_a_failure(wire: Callable[..., Model], answer: Stream | Http, cause: Cause) -> None:
    if isinstance(answer, Stream):
        answer = Stream(steps=answer.steps, usage=None, stop="", done=False)
    async with line(wire, answer) as to:
        failure = await to.failure()
        assert (failure.cause, failure.shown) == (cause, False)


async def test_when_to_come_again_is_passed_on(wire: Callable[..., Model]) -> None:
    async with line(wire, Http(status=429, body={"error": {"message": "slow"}}, headers={"Retry-After": "2"})) as to:
        failure = await to.failure()
        assert (failure.cause, failure.retry_after, failure.detail) == (Cause.RATE_LIMITED, "2", "slow")


async def test_the_models_of_a_server_are_listed(wire: Callable[..., Model]) -> None:
    async with serve_model(InOrder([]), models=["a", "b"]) as server:
        model = wire(name="mine", base_url=server.base_url)
        with anyio.fail_after(5):
            assert await model.models() == ["a", "b"]
        await model.close()


async def test_loopback_never_goes_through_a_proxy(wire: Callable[..., Model], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with line(wire, say("a")) as to:
        assert (await to.reply()).parts == (TextPart("a"),)
