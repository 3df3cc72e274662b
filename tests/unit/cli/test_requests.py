"""Nothing is approved from a terminal that was not shown in it."""

import json
from typing import Any

import pytest

from agent_ls.cli.ago import ago
from agent_ls.cli.cards import card
from agent_ls.cli.terminal import PLAIN
from agent_ls.core.errors import HINTS, Code
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


def test_pending_says_what_each_is_about_where_several_conversations_ask(
    command_line: CommandLine, daemon: Start
) -> None:
    other = {**REQUEST, "id": "p", "number": 8, "conversationId": "d"}
    held = [
        {"id": "c", "title": "mend it", "workspace": "file:///srv/a"},
        {"id": "d", "title": "", "workspace": "file:///b"},
    ]
    daemon({"agent/request/list": {"requests": [REQUEST, other]}, "agent/conversation/list": {"conversations": held}})
    lines = command_line("pending").out.splitlines()
    assert [line for line in lines if line[0] not in "╭│╰"] == ["mend it, in /srv/a", "(untitled), in /b"]
    assert lines.index("(untitled), in /b") == lines.index("╭ #8  Run a command") - 1


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


def test_a_number_that_was_never_given_out_is_said_so(command_line: CommandLine, daemon: Start) -> None:
    daemon({"agent/request/list": {"requests": []}})
    said = command_line("deny", "9")
    assert (said.code, said.out, said.err) == (
        1,
        "",
        "agent-ls: There is no request #9: this number was never given out, or its conversation was deleted.\n"
        "  `agent-ls pending` lists what waits for an answer.\n",
    )


@pytest.mark.parametrize(
    ("became", "told"),
    [
        ({"decision": "allow", "decidedBy": "ada", "decidedFrom": "neovim"}, "#7 was allowed by ada in neovim"),
        ({"decision": "deny", "decidedBy": "ada"}, "#7 was denied by ada"),
        ({"status": "cancelled"}, "#7 was cancelled: its run was stopped or has ended."),
        ({"status": "expired"}, "#7 can no longer be answered: its run has ended."),
    ],
)
def test_a_number_that_was_decided_says_how_and_by_whom(
    command_line: CommandLine, daemon: Start, became: Json, told: str
) -> None:
    decided_at = {"decidedAt": "2020-01-01T00:00:00.000Z"} if "decision" in became else {}
    daemon({"agent/request/list": {"requests": [{**REQUEST, "status": "resolved", **became, **decided_at}]}})
    said = command_line("approve", "7")
    assert said.code == 1
    first = said.err.splitlines()[0]
    assert first.startswith(f"agent-ls: {told}")
    assert first.endswith(" days ago.") is bool(decided_at)


def test_show_shows_a_request_that_was_decided_too(command_line: CommandLine, daemon: Start) -> None:
    became = {"status": "resolved", "decision": "allow", "decidedBy": "ada", "decidedFrom": "neovim"}
    fake = daemon({"agent/request/list": {"requests": [{**REQUEST, **became}]}})
    assert command_line("show", "7").out.splitlines()[-1] == "╰ allowed by ada in neovim"
    assert fake.sent("agent/request/list") == [{"number": 7}]


@pytest.mark.parametrize(
    ("verb", "kind", "told", "way"),
    [
        (("approve", "7"), "question", "#7 is a question", 'agent-ls answer 7 "…"'),
        (("answer", "7", "yes"), "approval", "#7 asks for your leave", "agent-ls approve 7"),
    ],
)
def test_the_wrong_verb_names_the_right_one(
    command_line: CommandLine, daemon: Start, verb: tuple[str, ...], kind: str, told: str, way: str
) -> None:
    fake = daemon({"agent/request/list": {"requests": [{**REQUEST, "kind": kind}]}})
    said = command_line(*verb)
    assert (said.code, said.out, fake.sent("agent/request/respond")) == (1, "", [])
    assert told in said.err
    assert way in said.err


def test_what_only_clients_can_look_up_becomes_the_help_of_the_verb(command_line: CommandLine, daemon: Start) -> None:
    def refused(_link: Link, _params: Json) -> Json:
        raise Refusal("invalid_params", "`model` is too long.", HINTS[Code.INVALID_PARAMS])

    daemon({"agent/conversation/create": refused})
    assert (
        command_line("ask", "Go.").err
        == "agent-ls: `model` is too long.\n  `agent-ls ask --help` says what it takes.\n"
    )


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ("2026-01-02T00:00:00.000Z", "just now"),
        ("2026-01-01T23:59:20.000Z", "40 seconds ago"),
        ("2026-01-01T23:59:00.000Z", "1 minute ago"),
        ("2026-01-01T20:59:00.000Z", "3 hours ago"),
        ("2026-01-03T00:00:00.000Z", "just now"),
        ("nonsense", ""),
    ],
)
def test_how_long_ago_is_said_in_words(at: str, told: str) -> None:
    assert ago(at, "2026-01-02T00:00:00.000Z") == told


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


def test_a_card_shows_the_rule_that_each_always_would_keep_and_where_words_lead() -> None:
    options = [
        {"id": "allow_once", "label": "Allow once", "decision": "allow", "scope": "once"},
        {
            "id": "allow_workspace",
            "label": "Allow in this workspace",
            "decision": "allow",
            "scope": "workspace",
            "rule": "shell(rm\u200b link)",
        },
    ]
    shown = {"type": "command", "command": "rm link", "cwd": "/w", "targets": {"link": "/etc/\u202ex"}}
    lines = card({**REQUEST, "card": shown, "options": options}, PLAIN)
    assert "│ link is /etc/⟨U+202E⟩x" in lines
    assert "│ Allow in this workspace: keeps the rule shell(rm⟨U+200B⟩ link)" in lines
    assert lines[-1] == '╰ agent-ls approve 7 [--scope workspace]  ·  agent-ls deny 7 "why"'


def test_a_card_says_where_else_a_command_would_run() -> None:
    shown = {"type": "command", "command": "serve", "cwd": "/w", "background": True, "outside": True}
    assert card({**REQUEST, "card": shown}, PLAIN)[1:-1] == [
        "│ $ serve", "│ in /w", "│ in the background: it goes on when the run has ended", "│ outside the sandbox",
    ]  # fmt: skip


def test_a_card_says_how_a_command_failed_in_the_sandbox_before_it_is_let_out() -> None:
    failed = {"outside": True, "failed": "It failed there.", "output": "a: no\x1b[2K\nb"}
    shown = {"type": "command", "command": "serve", "cwd": "/w", **failed}
    assert card({**REQUEST, "card": shown}, PLAIN)[1:-1] == [
        "│ $ serve", "│ in /w", "│ outside the sandbox", "│ It failed there.", "│   a: no⟨U+001B⟩[2K", "│   b",
    ]  # fmt: skip


def test_a_card_does_not_say_twice_what_its_title_says_whole() -> None:
    asked = {**REQUEST, "tool": "fetch", "title": "Fetch https://a.example/", "card": None}
    assert card({**asked, "input": {"url": "https://a.example/"}}, PLAIN)[1:-1] == []
    assert card({**asked, "input": {"url": "https://b.example/"}}, PLAIN)[1:-1] == ["│ url: https://b.example/"]
