"""`agent-ls doctor` asks the daemon that is there, and starts none."""

import json
from typing import Any

from tests.unit.cli.conftest import CommandLine, Start

Json = dict[str, Any]
STATUS: Json = {
    "pid": 7,
    "version": "0.0.1",
    "uptimeS": 190,
    "config": {"path": "/c", "since": "t", "error": None, "model": "openai, model gpt-5", "print": "x"},
}
PROVIDERS: Json = {
    "providers": [
        {"id": "openai", "kind": "openai", "available": True, "model": "gpt-5"},
        {"id": "letta", "kind": "letta", "available": False, "reason": "no"},
        {"id": "demo", "kind": "demo", "available": True, "model": "demo-1"},
    ]
}


def daemon_lines(out: str) -> dict[str, str]:
    return {line["name"]: line["text"] for line in json.loads(out)["lines"] if line["part"] == "daemon"}


def test_the_daemon_that_is_there_is_asked_for_its_providers(command_line: CommandLine, daemon: Start) -> None:
    fake = daemon({"agent/status": STATUS, "agent/provider/list": PROVIDERS})
    said = command_line("doctor", "--json")
    assert json.loads(said.out)["model"] == "openai, model gpt-5"
    shown = daemon_lines(said.out)
    assert "which was not found from here" in shown.pop("differs")
    assert shown == {
        "running": "pid 7, version 0.0.1, started 3 min ago",
        "providers": "openai (model gpt-5); letta: not ready; demo",
        "new conversations": "openai, model gpt-5",
    }
    assert [method for method, _ in fake.asked] == ["agent/status", "agent/provider/list"]


def test_without_a_daemon_none_is_started(command_line: CommandLine) -> None:
    assert daemon_lines(command_line("doctor", "--json").out) == {"running": "no; the first client starts one"}
    assert command_line("status").code == 3
