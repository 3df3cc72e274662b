"""A client that cannot even be made is a failure that says where to look, and can be tried again."""

import errno
import ssl
from typing import Any

import pytest

from agent_ls.adapters.models.failures import Spoken
from agent_ls.adapters.models.http import HttpLimits, ModelHttp
from agent_ls.ports.provider import Cause, Failure

pytestmark = pytest.mark.anyio

ADDRESS = "https://models.invalid/v1"
SPOKEN = Spoken(provider="far", base_url=ADDRESS, model="m")


def full(*_: Any) -> None:
    raise OSError(errno.EMFILE, "Too many open files")


@pytest.fixture(params=["a proxy that is none", "a proxy of another kind", "too many files"])
def unprepared(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    match request.param:
        case "a proxy that is none":
            monkeypatch.setenv("ALL_PROXY", "nonsense://x")
        case "a proxy of another kind":
            monkeypatch.setenv("ALL_PROXY", "socks5h://127.0.0.1:1")
            monkeypatch.setitem(__import__("sys").modules, "socksio", None)
        case _:
            monkeypatch.setattr(ssl, "SSLContext", full)


@pytest.mark.usefixtures("unprepared")
async def test_a_client_that_cannot_be_made_is_a_sentence() -> None:
    http = ModelHttp(base_url=ADDRESS, headers={}, limits=HttpLimits())
    http.warm_up()
    for _ in range(2):
        answer = await http.get("/models", headers={}, spoken=SPOKEN)
        assert isinstance(answer, Failure)
        assert (answer.cause, "could be prepared" in answer.message) == (Cause.NETWORK, True)
    await http.close()
