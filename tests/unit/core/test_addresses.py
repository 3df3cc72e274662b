"""Which addresses are this machine."""

import pytest

from agent_ls.config.providers import Provider
from agent_ls.core.addresses import host_of, is_loopback


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:11434/v1",
        "http://LOCALHOST/v1",
        "http://models.localhost:8080",
        "http://127.0.0.1:1234/v1",
        "http://127.9.9.9",
        "http://[::1]:8080/v1",
    ],
)
def test_an_address_of_this_machine_is_local(url: str) -> None:
    assert is_loopback(url)
    assert Provider(name="here", kind="openai-compatible", base_url=url).is_local


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1.example.com/v1",
        "http://127.example.com",
        "http://localhost.example.com",
        "http://notlocalhost",
        "http://192.168.1.2:11434",
        "http://[::2]/v1",
        "http://[half",
        "localhost:11434",
        "",
    ],
)
def test_a_name_that_only_begins_like_one_is_not(url: str) -> None:
    assert not is_loopback(url)
    assert not Provider(name="there", kind="openai-compatible", base_url=url).is_local


def test_an_address_that_is_none_has_no_host() -> None:
    assert [host_of(url) for url in ("http://[half", "", "https://API.example.com:8/v1")] == ["", "", "api.example.com"]
