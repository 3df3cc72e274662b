"""Each model wire when its server says no: what that means, and a sentence that says what to do."""

from collections.abc import Callable

import pytest

from agent_ls.adapters.models.anthropic import VERSION, AnthropicModel
from agent_ls.adapters.models.openai_responses import OpenAIResponsesModel
from agent_ls.core.messages import TextPart
from agent_ls.ports.provider import Cause, Model
from agent_ls.testing.model_scenario import Http, InOrder, say
from agent_ls.testing.model_server import serve_model
from tests.contract.model_line import asked, line
from tests.contract.model_words import words

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("status", "code", "words_of_it", "cause", "says"),
    [
        (401, "authentication_error", "invalid x-api-key", Cause.UNAUTHORIZED, "`agent-ls doctor`"),
        (403, "permission_error", "not allowed", Cause.UNAUTHORIZED, "`agent-ls doctor`"),
        (404, "not_found_error", "model: m", Cause.NOT_FOUND, "does not know the model"),
        (429, "rate_limit_error", "slow", Cause.RATE_LIMITED, "Wait a little"),
        (429, "insufficient_quota", "pay", Cause.NO_CREDIT, "Top it up"),
        (400, "invalid_request_error", "Your credit balance is too low", Cause.NO_CREDIT, "Top it up"),
        (529, "overloaded_error", "Overloaded", Cause.OVERLOADED, "Wait a little"),
        (500, "api_error", "oh", Cause.SERVER, "Send the message again"),
        (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000", Cause.OVERFLOW, "Start a new one"),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
            Cause.OVERFLOW,
            "use a larger model",
        ),
        (400, "context_length_exceeded", "too long", Cause.OVERFLOW, "use a larger model"),
        (413, "request_too_large", "Request exceeds the maximum size", Cause.OVERFLOW, "use a larger model"),
        (400, "invalid_request_error", "tools.0: no", Cause.INVALID, "`agent-ls log`"),
    ],
)
async def test_what_a_server_refuses_with_is_a_cause_and_a_way_on(
    wire: Callable[..., Model], status: int, code: str, words_of_it: str, cause: Cause, says: str
) -> None:
    body = words(wire).error(code, words_of_it)
    async with line(wire, Http(status=status, body=body, headers={"Retry-After": "7"})) as to:
        failure = await to.failure(model="scripted-1")
        assert (failure.cause, failure.status, failure.detail) == (cause, status, words_of_it)
        assert (failure.retry_after, failure.shown, says in failure.message) == ("7", False, True)


async def test_anthropic_is_told_the_version_and_the_key_in_its_own_header() -> None:
    async with line(AnthropicModel, say("a"), key="k", api_key=lambda: "k") as to:
        await to.reply()
        headers = to.server.requests[0].headers
        assert (headers["anthropic-version"], headers["x-api-key"]) == (VERSION, "k")
        assert "authorization" not in headers


async def test_anthropics_address_may_end_with_its_version_or_not() -> None:
    async with serve_model(lambda _: say("a")) as server:
        for address in (server.base_url, server.base_url + "/", server.base_url.removesuffix("/v1")):
            model = AnthropicModel(name="mine", base_url=address)
            reply = await model.call(asked(), lambda _: None)
            assert not hasattr(reply, "cause"), reply
            assert await model.models() == ["scripted-1"]
            await model.close()
        assert len(server.requests) == 3


async def test_where_summaries_of_thoughts_are_refused_they_are_done_without() -> None:
    no = {"error": {"message": "Your organization must be verified to generate reasoning summaries.", "code": None}}
    thinks = "gpt-5-scripted"
    async with serve_model(InOrder([Http(status=400, body=no), say("a"), say("b")]), models=[thinks]) as server:
        model = OpenAIResponsesModel(name="mine", base_url=server.base_url)
        for expected in ("a", "b"):
            reply = await model.call(asked(model=thinks), lambda _: None)
            assert getattr(reply, "parts", None) == (TextPart(expected),)
        await model.close()
        assert [request.body.get("reasoning") for request in server.requests] == [{"summary": "auto"}, None, None]
