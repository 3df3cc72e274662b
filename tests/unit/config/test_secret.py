"""Keys do not show themselves."""

import copy
import pickle

import pytest

from agent_ls.config.secret import MASK, CommandKey, EnvironmentKey, KeyringKey, Keys, Secret, mask
from agent_ls.ports.provider import Cause, Failure


def test_a_secret_is_only_revealed_by_asking() -> None:
    secret = Secret("topsecret")
    assert [repr(secret), str(secret), f"{secret}", f"{[secret]}"] == [
        f"Secret({MASK})", f"Secret({MASK})", f"Secret({MASK})", f"[Secret({MASK})]",
    ]  # fmt: skip
    assert secret.reveal() == "topsecret"
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    with pytest.raises(TypeError):
        copy.copy(secret)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("key sk-abcdefgh12345678 used", f"key {MASK} used"),
        ("sk-proj-abc_def-123456", MASK),
        ("Authorization: Bearer abc.def", f"Authorization: Bearer {MASK}"),
        ("{'Authorization': 'Basic dXNlcjpwdw=='}", f"{{'Authorization': 'Basic {MASK}'}}"),
        ("bearer abcdef", f"bearer {MASK}"),
        ('{"api_key": "abcdef"}', f'{{"api_key": "{MASK}"}}'),
        ("x-api-key: abcdef", f"x-api-key: {MASK}"),
        ("GET /v1?token=abcdef&x=1", f"GET /v1?token={MASK}&x=1"),
        ("postgresql://me:hunter2@host/db", f"postgresql://{MASK}@host/db"),
        ("ghp_0123456789abcdef0123", MASK),
        ("AIzaSyA0123456789abcdefghij", MASK),
        ("max_tokens=4096 key=file:///a", "max_tokens=4096 key=file:///a"),
        ("task-abcdefgh12345 ended", "task-abcdefgh12345 ended"),
        ("http://127.0.0.1:9000/v1", "http://127.0.0.1:9000/v1"),
        ("saw own-value here", f"saw {MASK} here"),
    ],
)
def test_what_looks_like_a_key_is_hidden_and_the_rest_is_not(text: str, masked: str) -> None:
    assert mask(text, ["own-value", "saw"]) == masked


class Program:
    """Prints the answers it was given, one a call."""

    def __init__(self, *answers: str | Failure) -> None:
        self.answers = list(answers)

    def __call__(self, argv: tuple[str, ...]) -> str | Failure:
        return self.answers.pop(0)


def test_a_provider_without_a_key_gets_none() -> None:
    assert Keys({}, Program()).get(None) is None


@pytest.mark.parametrize(
    ("value", "key"),
    [
        (" k1\n", Secret("k1")),
        ("", Failure(Cause.UNAUTHORIZED, "The environment variable K is empty or not set, so there is no key.")),
        (
            "“k1”",
            Failure(
                Cause.UNAUTHORIZED,
                "The environment variable K holds signs that no key has; look for a stray line or quote.",
            ),
        ),
    ],
)
def test_a_key_comes_from_the_environment(value: str, key: Secret | Failure) -> None:
    assert Keys({"K": value}, Program()).get(EnvironmentKey("K")) == key


def test_what_a_command_printed_is_remembered_until_it_is_refused() -> None:
    keys, source = Keys({}, Program("k1\nlogin: me\n", "k2\n")), CommandKey(("pass",))
    assert [keys.get(source), keys.get(source)] == [Secret("k1"), Secret("k1")]
    keys.forget(source)
    assert keys.get(source) == Secret("k2")


def test_a_command_that_failed_is_asked_again() -> None:
    failure = Failure(Cause.UNAUTHORIZED, "no")
    keys, source = Keys({}, Program(failure, "", "k1")), CommandKey(("pass",))
    empty = Failure(Cause.UNAUTHORIZED, "What api_key_command printed is empty or not set, so there is no key.")
    assert [keys.get(source), keys.get(source), keys.get(source)] == [failure, empty, Secret("k1")]


def test_the_keyring_is_said_to_be_missing() -> None:
    assert isinstance(Keys({}, Program()).get(KeyringKey("x")), Failure)
