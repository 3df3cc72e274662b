"""Secrets known by value are found wherever they would be written down, and ordinary words are left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ls.core.masking import MASK, Masking, holds_secret, secret_values


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("ANTHROPIC_API_KEY", "sk-ant-1234", {"sk-ant-1234"}),
        ("GITHUB_TOKEN", "ghp_12345678", {"ghp_12345678"}),
        ("DB_PASSWORD", "correct1horse", {"correct1horse"}),
        ("DATABASE_URL", "postgres://u:s3cret-pw@h/db", {"s3cret-pw"}),
        ("CLIENT_SECRET", "aGVsbG8gd29ybGQ=", {"aGVsbG8gd29ybGQ="}),
        ("DB_PASSWORD", "postgres", set()),
        ("API_KEY", "short1", set()),
        ("SSL_KEY", "/etc/ssl/private.pem", set()),
        ("PWD", "/home/ada/12345678", set()),
        ("MONKEY", "banana-12345", set()),
        ("TOKENIZERS_PARALLELISM", "false-false", set()),
        ("HOME_URL", "https://example.org/a/b", set()),
    ],
)
def test_what_is_looked_for(name: str, value: str, found: set[str]) -> None:
    assert secret_values({name: value}) == found


def test_a_variable_that_is_named_as_a_key_holds_one_whatever_it_is_called() -> None:
    assert secret_values({"WHATEVER": "value-of-it"}, {"WHATEVER"}) == {"value-of-it"}
    assert [
        holds_secret(name, value) for name, value in (("A_TOKEN", "x"), ("URL", "a://u:p@h"), ("PATH", "/bin"))
    ] == [
        True,
        True,
        False,
    ]


def test_the_longer_of_two_keys_goes_first() -> None:
    masking = Masking.of(["key-12345", "key-12345-longer"])
    assert masking.text("a key-12345-longer b key-12345") == f"a {MASK} b {MASK}"


@given(st.lists(st.sampled_from(["secret-01", "sec", "ret-01", "s", "secsecret-01", "x\n", "ecret-0"])), st.data())
def test_however_it_is_cut_a_stream_hides_what_the_whole_would(parts: list[str], data: st.DataObject) -> None:
    whole = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)))))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    masking = Masking.of(["secret-01"])
    text, raw = masking.of_text(), masking.of_bytes()
    shown = "".join(text.feed(piece) for piece in pieces) + text.finish()
    kept = b"".join(raw.feed(piece.encode()) for piece in pieces) + raw.finish()
    assert "secret-01" not in shown
    assert kept.decode() == shown
    assert shown.replace(MASK, "secret-01") == whole


def test_nothing_is_kept_back_that_cannot_be_a_secret() -> None:
    assert Masking.of(["secret-01"]).of_text().feed("ready> ") == "ready> "
