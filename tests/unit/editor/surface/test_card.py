"""A request in words: complete, and nothing in it can hide or pass for markup."""

from hypothesis import given
from hypothesis import strategies as st

from agent_ls.core.display import escaped
from agent_ls.core.request import Decision, Option, RequestKind
from agent_ls.editor.surface.card import page
from tests.unit.editor.surface.windows import command, edit


def test_a_command_is_shown_with_its_folder_and_what_changes_in_its_environment() -> None:
    card = {"type": "command", "command": "make\nrm x", "cwd": "/w", "environment": {"A": "1", "B": None}}
    shown = page(command(7, card=card), None, markdown=False)
    assert shown == (
        "#7 Run a command\n\nmake\nrm x\n\nIn /w\n\nWith A=1\n\nWithout B\n\n"
        'Answer by code action where it is marked, or in a terminal: agent-ls approve 7 or agent-ls deny 7 "why"\n'
    )


def test_a_command_says_where_else_it_would_run_and_how_it_failed_in_the_sandbox() -> None:
    failed = {"background": True, "outside": True, "failed": "It failed there.", "output": "a: no\x1b[2K"}
    card = {"type": "command", "command": "make", "cwd": "/w", **failed}
    shown = page(command(7, card=card), None, markdown=True)
    assert (
        "In `/w`\n\n**In the background: it goes on when the run has ended.**\n\n**Outside the sandbox.**\n\n" in shown
    )
    assert "\n\nIt failed there.\n\n```\na: no⟨U+001B⟩[2K\n```\n\n" in shown


def test_a_change_is_shown_as_its_diff_and_the_rule_that_would_be_kept_is_named() -> None:
    rule = Option(id="c", label="Allow for this conversation", decision=Decision.ALLOW, rule="edit(a.txt)")
    shown = page(edit(3, options=(rule,)), None, markdown=True)
    assert "In `a.txt`\n\n```diff\n@@ -2 +2 @@\n-two\n+2\n```\n\n" in shown
    assert "“Allow for this conversation” keeps the rule `edit(a.txt)`" in shown


def test_a_question_is_shown_with_its_choices() -> None:
    asked = {"text": "Which *one*?", "options": [{"id": "a", "label": "This"}, {"id": "b", "label": "That"}]}
    request = command(5, card=None, kind=RequestKind.QUESTION, questions=(asked,), title="Which?")
    assert page(request, None, markdown=True) == (
        "**#5** `Which?`\n\n```\nWhich *one*?\n```\n\n1. `This`\n\n2. `That`\n\n"
        'Answer by code action where it is marked, or in a terminal: `agent-ls answer 5 "…"`\n'
    )


@given(st.text(alphabet=st.sampled_from("`~ \n#*<a\u202e\u200b\x1b"), min_size=1, max_size=60))
def test_whatever_a_command_holds_stays_inside_its_block(line: str) -> None:
    shown = page(command(1, line), None, markdown=True)
    body = escaped(line).removesuffix("\n")
    fence = next(row for row in shown.splitlines() if row.startswith("```")).removesuffix("sh")
    assert f"{fence}sh\n{body}\n{fence}\n" in shown
    assert not any(row.lstrip().startswith(fence) for row in body.split("\n"))
    assert not {"\u202e", "\u200b", "\x1b"} & set(shown)
