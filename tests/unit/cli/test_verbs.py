"""Lists for people and for scripts, usage errors, and what a verb must not import."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import CommandLine, Start
from tests.unit.cli.fake_daemon import FakeDaemon, Link

Json = dict[str, Any]
SUMMARY: Json = {
    "id": "c1",
    "workspace": "file:///srv/my%20work",
    "title": "Mend the greeting",
    "provider": "demo",
    "model": "demo-1",
    "mode": "ask",
    "status": "waiting",
    "pendingRequests": 1,
    "lastText": "",
}
STATUS: Json = {
    "pid": 1,
    "version": "0.1.0",
    "bootId": "b",
    "instanceId": "i",
    "uptimeS": 4000.0,
    "connections": {"count": 2, "windows": [{"client": "cli"}, {"client": "vscode"}]},
    "claims": 0,
    "runs": {"active": [], "count": 0},
    "requests": {"pending": 3},
    "effects": {"owed": []},
    "ledger": {"engine": "sqlite", "events": 12, "sizeBytes": 2_097_152, "writable": True},
    "drain": None,
}


def test_status_without_a_daemon_starts_none_and_exits_with_3(command_line: CommandLine) -> None:
    assert command_line("status").code == 3
    said = command_line("status", "--json")
    assert (said.code, json.loads(said.out)) == (3, {"running": False})


def test_stop_without_a_daemon_is_no_trouble(command_line: CommandLine) -> None:
    said = command_line("stop")
    assert (said.code, said.out) == (0, "No daemon is running.\n")


def test_status_as_json_is_what_the_daemon_said(command_line: CommandLine, daemon: Start) -> None:
    daemon({"agent/status": STATUS})
    said = command_line("status", "--json")
    assert (said.code, json.loads(said.out)) == (0, STATUS)


def test_status_for_a_person_counts(command_line: CommandLine, daemon: Start) -> None:
    daemon({"agent/status": STATUS})
    lines = command_line("status").out.splitlines()
    assert lines[:-1] == [
        "daemon       pid 1, version 0.1.0, up 1 h 6 min",
        "connections  2 with this one",
        "runs         0 active",
        "requests     3 pending",
        "effects      0 owed",
        "ledger       sqlite, 12 events, 2.0 MiB",
    ]


def test_conversations_are_aligned_and_readable(command_line: CommandLine, daemon: Start) -> None:
    daemon({"agent/conversation/list": {"conversations": [SUMMARY, {**SUMMARY, "id": "c234", "status": "idle"}]}})
    assert command_line("conversations").out == (
        "id    status       workspace     title\n"
        "c1    waiting (1)  /srv/my work  Mend the greeting\n"
        "c234  idle (1)     /srv/my work  Mend the greeting\n"
    )


LISTED: Json = {
    "conversations": [
        {**SUMMARY, "id": "c2345", "workspace": "file:///elsewhere"},
        {**SUMMARY, "id": "c1234", "workspace": "file://" + os.getcwd()},
        {**SUMMARY, "id": "c1299", "workspace": "file:///elsewhere"},
    ]
}


def exported(fake: FakeDaemon) -> list[str]:
    return [params["conversationId"] for params in fake.sent("agent/conversation/export")]


def test_the_beginning_of_an_id_is_enough_where_only_one_begins_so(command_line: CommandLine, daemon: Start) -> None:
    fake = daemon({"agent/conversation/list": LISTED, "agent/conversation/export": {"text": "x"}})
    assert (command_line("export", "c2").code, exported(fake)) == (0, ["c2345"])
    said = command_line("export", "c12")
    assert (said.code, exported(fake)) == (1, ["c2345"])
    assert said.err == "agent-ls: 2 conversations begin with `c12`.\n  Say more of it: c1234, c1299\n"


def test_an_id_that_begins_none_is_left_to_the_daemon_to_refuse(command_line: CommandLine, daemon: Start) -> None:
    fake = daemon({"agent/conversation/list": LISTED, "agent/conversation/export": {"text": "x"}})
    assert (command_line("export", "zz").code, exported(fake)) == (0, ["zz"])


def test_without_an_id_it_is_the_newest_conversation_of_this_folder(command_line: CommandLine, daemon: Start) -> None:
    fake = daemon({"agent/conversation/list": LISTED, "agent/conversation/export": {"text": "x"}})
    assert (command_line("export").code, exported(fake)) == (0, ["c1234"])
    fake.answers["agent/conversation/list"] = {"conversations": []}
    said = command_line("export")
    assert (said.code, exported(fake)) == (1, ["c1234"])
    assert said.err.splitlines()[0] == "agent-ls: There is no conversation in this folder yet."


@pytest.mark.parametrize(
    "words",
    [
        ["ask", "hi"],
        ["attach"],
        ["export"],
        ["rules"],
        ["rules", "explain", "shell", "ls"],
        ["rules", "add", "allow", "read"],
    ],
    ids=" ".join,
)
def test_in_a_folder_that_has_been_removed_what_needs_one_says_so(
    words: list[str], command_line: CommandLine, daemon: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon({})
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    said = command_line(*words)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("agent-ls: The folder that you are in has been removed.")


def test_in_a_folder_that_has_been_removed_all_conversations_are_still_listed(
    command_line: CommandLine, daemon: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon({"agent/conversation/list": {"conversations": [SUMMARY]}})
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    said = command_line("conversations")
    assert (said.code, said.err) == (0, "")


def test_the_beginning_of_an_id_is_enough_to_delete_and_for_rules(command_line: CommandLine, daemon: Start) -> None:
    whole = "c0123456789abcdef"
    listed = {"conversations": [{**SUMMARY, "id": whole}]}
    methods = ["agent/conversation/delete", "agent/permission/list"]
    held = daemon({"agent/conversation/list": listed, methods[0]: {}, methods[1]: {"rules": []}})
    command_line("conversations", "delete", "c01", "--yes")
    command_line("rules", "list", "--conversation", "c01")
    asked = [(method, params["conversationId"]) for method, params in held.asked if method in methods]
    assert asked == [(method, whole) for method in methods]


def test_a_long_list_is_read_to_its_end(command_line: CommandLine, daemon: Start) -> None:
    def page(_link: Link, params: Json) -> Json:
        if "cursor" in params:
            return {"conversations": [{**SUMMARY, "id": "c2"}]}
        return {"conversations": [SUMMARY], "nextCursor": "more"}

    daemon({"agent/conversation/list": page})
    listed = json.loads(command_line("conversations", "--json").out)["conversations"]
    assert [held["id"] for held in listed] == ["c1", "c2"]


def test_nothing_is_deleted_without_a_yes(command_line: CommandLine, daemon: Start) -> None:
    fake = daemon({})
    assert command_line("conversations", "delete", "c1").code == 1
    assert fake.sent("agent/conversation/delete") == []
    assert command_line("conversations", "delete", "c1", "--yes").code == 0
    assert fake.sent("agent/conversation/delete") == [{"conversationId": "c1"}]


def test_an_export_is_the_text_as_it_came(command_line: CommandLine, daemon: Start) -> None:
    fake = daemon({"agent/conversation/export": {"text": "# Title\n"}})
    assert command_line("export", "c1", "--format", "jsonl").out == "# Title\n"
    assert fake.sent("agent/conversation/export") == [{"conversationId": "c1", "format": "jsonl"}]


def test_interrupt_finds_the_run_that_is_going_on(command_line: CommandLine, daemon: Start) -> None:
    snapshot = {"conversation": SUMMARY, "queue": [], "items": [{"id": "i", "runId": "c1.r4"}], "seq": 1}
    fake = daemon(
        {
            "agent/conversation/list": {"conversations": [SUMMARY]},
            "agent/conversation/attach": snapshot,
        }
    )
    assert command_line("interrupt").code == 0
    assert fake.sent("agent/run/interrupt") == [{"runId": "c1.r4", "holdQueue": True}]


def test_locks_are_listed_for_people_and_scripts(command_line: CommandLine, daemon: Start) -> None:
    lock = {"key": "file:///srv/a.py", "conversationId": "c", "runId": "c.r1", "since": "12:00", "waiting": 2}
    daemon({"agent/lock/list": {"locks": [lock]}})
    assert json.loads(command_line("locks", "--json").out) == {"locks": [lock]}
    assert command_line("locks").out.splitlines()[1] == "/srv/a.py  c.r1    12:00  2"


def test_rules_are_listed_with_what_takes_them_back(command_line: CommandLine, daemon: Start) -> None:
    kept = {"effect": "allow", "rule": "shell(make)", "scope": "local", "origin": "/state/rules/w.json", "id": "w:1"}
    written = {"effect": "deny", "rule": "shell(rm *)", "scope": "user", "origin": "/etc/config.toml"}
    daemon({"agent/permission/list": {"rules": [kept, written]}})
    assert command_line("rules").out.splitlines() == [
        "effect  rule         holds                       id or file",
        "allow   shell(make)  in this workspace, for you  w:1",
        "deny    shell(rm *)  for you                     /etc/config.toml",
    ]


def test_status_says_how_servers_of_tools_are(command_line: CommandLine, daemon: Start) -> None:
    up = {"name": "notes", "workspace": "/srv/a", "state": "up", "tools": 1}
    down = {"name": "tickets", "workspace": "/srv/a", "state": "down: it ended. Started again in 2 s.", "tools": 0}
    daemon({"agent/status": {**STATUS, "mcp": [up, down]}})
    assert [line for line in command_line("status").out.splitlines() if line.startswith("mcp")] == [
        "mcp          notes in /srv/a: up, 1 tool",
        "mcp          tickets in /srv/a: down: it ended. Started again in 2 s.",
    ]


def test_rules_explain_takes_a_command_as_typed(command_line: CommandLine, daemon: Start) -> None:
    fake = daemon({"agent/permission/explain": {"effect": "ask", "reason": "No rule allows it."}})
    assert command_line("rules", "explain", "shell", "git", "push").out == "ask  No rule allows it.\n"
    assert fake.sent("agent/permission/explain")[0]["input"] == {"command": "git push"}


@pytest.mark.parametrize(
    ("typed", "given"),
    [
        (("fetch", "https://a.example/"), {"url": "https://a.example/"}),
        (("grep", "a b"), {"pattern": "a b"}),
        (("write", "a.py"), {"path": "a.py", "content": ""}),
        (("read", "a.py"), {"path": "a.py"}),
    ],
)
def test_rules_explain_takes_the_one_thing_that_a_tool_is_about(
    command_line: CommandLine, daemon: Start, typed: tuple[str, ...], given: dict[str, str]
) -> None:
    fake = daemon({"agent/permission/explain": {"effect": "ask", "reason": "No rule allows it."}})
    assert command_line("rules", "explain", *typed).code == 0
    assert fake.sent("agent/permission/explain")[0]["input"] == given


def test_what_is_not_built_says_so(command_line: CommandLine) -> None:
    said = command_line("acp")
    assert (said.code, "not built yet" in said.err) == (1, True)


def test_a_wrong_verb_is_a_usage_error_that_is_no_code_of_ask(command_line: CommandLine) -> None:
    said = command_line("aks")
    assert (said.code, said.err) == (64, "agent-ls: There is no `agent-ls aks`.\n  See `agent-ls --help`.\n")


def test_the_help_names_every_verb_of_the_protocol(command_line: CommandLine) -> None:
    listed = {line.split()[0] for line in command_line("--help").out.splitlines() if line.startswith("  ")}
    assert listed >= {
        *("connect", "daemon", "start", "stop", "restart", "status", "doctor", "demo", "chat", "ask", "pending"),
        *("show", "approve", "deny", "answer", "interrupt", "conversations", "attach", "export", "import", "locks"),
        *("rules", "log", "acp"),
    }


def test_client_verbs_import_nothing_heavy() -> None:
    code = "import sys, agent_ls.cli.main as m; m._verbs(); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True)
    heavy = {"pydantic", "anyio", "httpcore", "asyncio", "lsprotocol", "pygls", "subprocess", "sqlite3"}
    assert heavy & set(ran.stdout.split()) == set()


def test_a_closed_pipe_ends_quietly() -> None:
    shell = f"{sys.executable} -m agent_ls --help | {sys.executable} -c pass; echo ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=20, check=True)
    assert (ran.stdout, ran.stderr) == ("0\n", "")
