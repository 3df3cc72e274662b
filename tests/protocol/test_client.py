"""The blocking client of the command line against a fake daemon."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_ls.cli.client import Client, ClientError
from tests.protocol.fake_daemon import FakeDaemon, Link


@pytest.fixture
def env(state_dir: Path, runtime_dir: Path) -> dict[str, str]:
    return {"AGENT_LS_STATE_DIR": os.fspath(state_dir), "AGENT_LS_RUNTIME_DIR": os.fspath(runtime_dir), "A": "b"}


class Pair:
    """A connected client and the daemon's end of its link."""

    def __init__(self, daemon: FakeDaemon, env: dict[str, str]) -> None:
        self.told: dict[str, Any] = {}
        answering = threading.Thread(target=self._answer, args=(daemon,))
        answering.start()
        self.client = Client.connect(start=False, env=env, timeout=10)
        answering.join(timeout=10)
        assert self.link.next() == {"jsonrpc": "2.0", "method": "initialized", "params": {}}

    def _answer(self, daemon: FakeDaemon) -> None:
        self.link: Link = daemon.accept()
        self.told = self.link.next()
        self.link.send(id=self.told["id"], result={"capabilities": {}})


@pytest.fixture
def pair(runtime_dir: Path, env: dict[str, str]) -> Iterator[Pair]:
    with FakeDaemon(runtime_dir) as daemon:
        made = Pair(daemon, env)
        with made.client:
            yield made


def test_it_says_who_it_is_and_what_its_environment_is(pair: Pair, env: dict[str, str]) -> None:
    ours = pair.told["params"]["initializationOptions"]["agentLs"]
    assert (ours["client"], ours["protocol"], ours["environment"]) == ("cli", {"min": 1, "max": 1}, env)
    assert pair.client.server == {"capabilities": {}}


def test_notices_that_come_before_an_answer_are_kept_in_order(pair: Pair) -> None:
    pair.link.send(method="agent/hello", params={"pid": 1})
    pair.link.send(id="1.1:1", method="agent/ui/reveal", params={})
    pair.link.send(id=2, result=["answer"])
    pair.link.send(method="agent/event", params={"n": 2})
    assert pair.client.call("agent/status") == ["answer"]
    assert list(pair.client.events(timeout=0.2)) == [("agent/hello", {"pid": 1}), ("agent/event", {"n": 2})]
    assert pair.link.next() == {"jsonrpc": "2.0", "id": 2, "method": "agent/status", "params": {}}
    assert (pair.link.next()["error"]["code"]) == -32601


def test_a_refusal_is_raised_with_its_stable_code(pair: Pair) -> None:
    data = {"code": "not_found", "message": "No conversation c.", "hint": "Look.", "retryable": False}
    pair.link.send(id=2, error={"code": -32000, "message": "No conversation c.", "data": data})
    with pytest.raises(ClientError) as raised:
        pair.client.call("agent/conversation/attach", {"conversationId": "c"})
    assert (raised.value.code, raised.value.message, raised.value.hint) == ("not_found", "No conversation c.", "Look.")


def test_silence_ends_with_the_time_limit_and_takes_the_request_back(pair: Pair) -> None:
    with pytest.raises(ClientError, match=r"did not answer agent/status in 0\.05 s") as raised:
        pair.client.call("agent/status", timeout=0.05)
    assert raised.value.code == "timeout"
    assert [pair.link.next()["method"] for _ in range(2)] == ["agent/status", "$/cancelRequest"]


def test_a_daemon_that_goes_is_told(pair: Pair) -> None:
    pair.link.close()
    with pytest.raises(ClientError) as raised:
        pair.client.call("agent/status")
    assert raised.value.code == "connection_lost"


def test_without_a_daemon_none_is_started_unless_asked(env: dict[str, str], state_dir: Path) -> None:
    with pytest.raises(ClientError) as raised:
        Client.connect(start=False, env=env)
    assert (raised.value.code, raised.value.hint) == ("no_daemon", "`agent-ls start` starts one.")
    assert list(state_dir.iterdir()) == []
