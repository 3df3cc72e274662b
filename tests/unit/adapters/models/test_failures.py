"""Trouble of a model server becomes a cause and a sentence with a way out, and never shows the key."""

import json
from typing import Any

import pytest

from agent_ls.adapters.models.failures import DETAIL_LENGTH, Spoken, from_status
from agent_ls.ports.provider import Cause, Failure

SECRET = "sk-very-secret"
SPOKEN = Spoken(
    provider="mine", base_url="https://me:pw@models.example/v1", model="m-1", key_source="MY_KEY", secret=SECRET
)


def error(message: str, **more: Any) -> bytes:
    return json.dumps({"error": {"message": message, **more}}).encode()


@pytest.mark.parametrize(
    ("status", "body", "cause", "says"),
    [
        (401, error("Incorrect API key", code="invalid_api_key"), Cause.UNAUTHORIZED, "Check MY_KEY"),
        (403, error("no"), Cause.UNAUTHORIZED, "Check MY_KEY"),
        (402, error("pay"), Cause.NO_CREDIT, "Top it up"),
        (429, error("You exceeded your current quota", code="insufficient_quota"), Cause.NO_CREDIT, "Top it up"),
        (429, error("slow", type="rate_limit_error"), Cause.RATE_LIMITED, "Wait a little"),
        (404, error("The model `m-1` does not exist", code="model_not_found"), Cause.NOT_FOUND, "the model 'm-1'"),
        (404, b'{"error": "model \'m-1\' not found"}', Cause.NOT_FOUND, "does not know the model 'm-1'"),
        (404, b"404 page not found", Cause.NOT_FOUND, "Check base_url"),
        (400, error("x", code="context_length_exceeded"), Cause.OVERFLOW, "Start a new one"),
        (400, error("x", type="exceed_context_size_error", code=400), Cause.OVERFLOW, "Start a new one"),
        (400, error("prompt is too long: 210000 > 200000"), Cause.OVERFLOW, "Start a new one"),
        (400, error("input length and max_tokens exceed"), Cause.OVERFLOW, "Start a new one"),
        (400, error("This model's maximum context length is 4096 tokens"), Cause.OVERFLOW, "Start a new one"),
        (413, b"", Cause.OVERFLOW, "Start a new one"),
        (400, error("messages: bad"), Cause.INVALID, "`agent-ls log`"),
        (422, b'{"detail": [{"loc": ["body"]}]}', Cause.INVALID, "`agent-ls log`"),
        (400, b"", Cause.INVALID, "`agent-ls log`"),
        (301, b"", Cause.INVALID, "base_url"),
        (408, b"", Cause.TIMEOUT, "again"),
        (500, error("the context window broke", type="server_error"), Cause.SERVER, "again"),
        (502, b"<html><head><style>x</style></head><h1>Bad gateway</h1></html>", Cause.SERVER, "again"),
        (503, b"", Cause.OVERLOADED, "Wait"),
        (529, error("x", type="overloaded_error"), Cause.OVERLOADED, "Wait"),
        (400, b'[{"error": {"code": 400, "message": "API key not valid"}}]', Cause.UNAUTHORIZED, "Check MY_KEY"),
    ],
)
def test_status_code_and_text_tell_the_cause(status: int, body: bytes, cause: Cause, says: str) -> None:
    failure = from_status(SPOKEN, status, body)
    assert (failure.cause, failure.status) == (cause, status)
    assert says in failure.message


def test_a_page_is_told_in_its_words_only() -> None:
    body = b"<html><head><style>h1 {}</style></head><body><h1>Bad  gateway</h1></body></html>"
    assert from_status(SPOKEN, 502, body).detail == "Bad gateway"


def test_how_long_to_wait_is_passed_on_as_the_server_said_it() -> None:
    failure = from_status(SPOKEN, 429, b"", retry_after="Wed, 21 Oct 2026 07:28:00 GMT")
    assert failure.retry_after == "Wed, 21 Oct 2026 07:28:00 GMT"


def test_neither_key_nor_password_is_in_a_failure() -> None:
    failure = from_status(SPOKEN, 401, error(f"Incorrect API key provided: {SECRET}."))
    assert failure == Failure(
        Cause.UNAUTHORIZED,
        "'mine' (https://models.example/v1) refused the key."
        " Check MY_KEY; `agent-ls doctor` shows where it comes from.",
        "Incorrect API key provided: [key].",
        401,
    )


def test_without_a_key_the_sentence_asks_for_one() -> None:
    spoken = Spoken(provider="mine", base_url="https://models.example/v1", model="m-1", key_source="MY_KEY")
    assert "wants a key and none was sent. Set MY_KEY" in from_status(spoken, 401, b"").message


def test_a_long_text_is_shortened() -> None:
    assert len(from_status(SPOKEN, 500, error("x" * 10_000)).detail) == DETAIL_LENGTH
