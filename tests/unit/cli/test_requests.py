"""Nothing is approved from a terminal that was not shown in it."""

import json
from typing import Any

from agent_ls.cli.cards import card
from agent_ls.cli.terminal import PLAIN
from tests.unit.cli.conftest import CommandLine, Start
from tests.unit.cli.fake_daemon import Link, Refusal

Json = dict[str, Any]
REQUEST: Json = {
    "id": "q",
    "number": 7,
    "conversationId": "c",
    "runId": "c.r1",
    "itemId": "i",
    "kind": "approval",
    "title": "Run a command",
    "tool": "shell",
    "input": {"command": "make test"},
    "card": {"type": "command", "command": "make test", "cwd": "/w", "environment": {"CI": "1", "HOME": None}},
    "options": [{"id": "once", "label": "Allow once", "decision": "allow", "scope": "once"}],
    "digest": "d1",
    "status": "pending",
    "createdAt": "t",
}
CARD = """\
╭ #7  Run a command
│ $ make test
│ in /w
│ with CI=1
│ without HOME
╰ agent-ls approve 7  ·  agent-ls deny 7 "why"
"""


def test_pending_shows_the_whole_card(command_line: CommandLine, daemon: Start) -> None:
    daemon({"agent/request/list": {"requests": [REQUEST]}})
    said = command_line("pending")
    assert (said.code, said.out, said.err) == (0, CARD, "")


def test_a_change_says_whole_where_it_is_from_outside_its_folder(command_line: CommandLine, daemon: Start) -> None:
    edit = {"type": "edit", "path": "a.py", "uri": "file:///w/a.py", "diff": "@@ -1 +1 @@\n-a\n+b\n"}
    daemon({"agent/request/list": {"requests": [{**REQUEST, "title": "Edit a.py", "card": edit}]}})
    assert command_line("pending").out.splitlines()[:3] == ["╭ #7  Edit a.py", "│ /w/a.py", "│ @@ -1 +1 @@"]


def test_a_card_keeps_its_edge_in_a_narrow_terminal() -> None:
    request = {**REQUEST, "card": {"type": "command", "command": "echo " + "word " * 12 + "end", "cwd": "/w"}}
    assert card(request, PLAIN, answers=False, columns=40) == [
        "╭ #7  Run a command",
        "│ $ echo word word word word word word",
        "│ word word word word word word end",
        "│ in /w",
        "╰",
    ]


def test_pending_as_json_is_an_object(command_line: CommandLine, daemon: Start) -> None:
    daemon({"agent/request/list": {"requests": [REQUEST]}})
    assert json.loads(command_line("pending", "--json").out) == {"requests": [REQUEST]}


def test_an_approval_carries_the_digest_that_was_shown(command_line: CommandLine, daemon: Start) -> None:
    fake = daemon({"agent/request/list": {"requests": [REQUEST]}})
    command_line("pending")
    # It changes after it was shown: the answer must be to what was seen.
    fake.answers["agent/request/list"] = {"requests": [{**REQUEST, "digest": "d2"}]}
    said = command_line("approve", "7")
    assert (said.code, said.out) == (0, "Allowed #7.\n")
    assert fake.sent("agent/request/respond") == [
        {"requestId": "q", "digest": "d1", "decision": "allow", "scope": "once"}
    ]


def test_what_was_not_shown_is_not_approved_without_a_person(command_line: CommandLine, daemon: Start) -> None:
    fake = daemon({"agent/request/list": {"requests": [REQUEST]}})
    said = command_line("approve", "7")
    assert (said.code, said.out, fake.sent("agent/request/respond")) == (1, "", [])
    assert "$ make test" in said.err
    assert "agent-ls show 7" in said.err


def test_a_refused_answer_says_who_was_first(command_line: CommandLine, daemon: Start) -> None:
    def decided(_link: Link, _params: Json) -> Json:
        raise Refusal("already_decided", "Request #7 was already denied by you in vscode.", "Nothing to do.")

    daemon({"agent/request/list": {"requests": [REQUEST]}, "agent/request/respond": decided})
    command_line("show", "7")
    said = command_line("approve", "7")
    assert (said.code, said.out) == (1, "")
    assert said.err == "agent-ls: Request #7 was already denied by you in vscode.\n  Nothing to do.\n"


def test_a_denial_carries_its_reason(command_line: CommandLine, daemon: Start) -> None:
    fake = daemon({"agent/request/list": {"requests": [REQUEST]}})
    said = command_line("deny", "#7", "not", "now")
    assert said.code == 0
    assert fake.sent("agent/request/respond") == [
        {"requestId": "q", "digest": "d1", "decision": "deny", "reason": "not now"}
    ]


def test_a_number_that_waits_for_nobody_is_said_so(command_line: CommandLine, daemon: Start) -> None:
    daemon({"agent/request/list": {"requests": []}})
    said = command_line("deny", "9")
    assert said.code == 1
    assert "No request #9 is waiting" in said.err


def test_an_answer_by_number_picks_the_option(command_line: CommandLine, daemon: Start) -> None:
    question = {
        **REQUEST,
        "kind": "question",
        "card": None,
        "questions": [{"id": "rerun", "text": "Run it again?", "options": []}],
        "options": [
            {"id": "rerun", "label": "Run it again", "decision": "answer"},
            {"id": "tell", "label": "Tell the model as it is", "decision": "answer"},
        ],
    }
    fake = daemon({"agent/request/list": {"requests": [question]}})
    assert "2. Tell the model as it is" in command_line("pending").out
    assert command_line("answer", "7", "2").code == 0
    assert fake.sent("agent/request/respond") == [
        {
            "requestId": "q",
            "digest": "d1",
            "decision": "answer",
            "answers": {"rerun": "tell"},
            "optionId": "tell",
        }
    ]


def test_signs_that_deceive_are_shown_by_name(command_line: CommandLine, daemon: Start) -> None:
    card = {"type": "command", "command": "echo \u202egnp.x\x1b[2K", "cwd": "/w", "environment": {}}
    daemon({"agent/request/list": {"requests": [{**REQUEST, "card": card}]}})
    out = command_line("pending").out
    assert "echo ⟨U+202E⟩gnp.x⟨U+001B⟩[2K" in out
    assert "\x1b" not in out
