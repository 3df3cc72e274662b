"""An answer as a person types it: by number, id or label, several at once, or words of their own."""

from typing import Any

import pytest

from agent_ls.cli.cards import card
from agent_ls.cli.render import item
from agent_ls.cli.terminal import Style
from agent_ls.core.spoken_answers import answers_to

Json = dict[str, Any]
PLAIN = Style(colours=False)
STORE: Json = {
    "id": "store",
    "header": "Store",
    "text": "Which one?",
    "options": [
        {"id": "pg", "label": "Postgres", "description": "As in production"},
        {"id": "lite", "label": "SQLite"},
    ],
}
TESTS: Json = {
    "id": "tests",
    "text": "Which tests?",
    "options": [{"id": "u", "label": "Unit"}, {"id": "e", "label": "End to end"}, {"id": "7", "label": "All"}],
    "multi": True,
}
WHY: Json = {"id": "why", "text": "Why?", "options": [], "free": True}


def request(*questions: Json, **more: Any) -> Json:
    single = len(questions) == 1 and not questions[0].get("multi")
    options = [{**one, "decision": "answer"} for one in questions[0]["options"]] if single else []
    refuse = {"id": "deny", "label": "Do not answer", "decision": "deny"}
    known = {"number": 4, "kind": "question", "title": "Question: Store", "questions": [*questions]}
    return {**known, "options": [*options, refuse], "status": "pending", **more}


@pytest.mark.parametrize(
    ("questions", "text", "answers", "option"),
    [
        ([STORE], "2", {"store": "lite"}, "lite"),
        ([STORE], "pg", {"store": "pg"}, "pg"),
        ([STORE], "postgres", {"store": "pg"}, "pg"),
        ([STORE], "store=1", {"store": "pg"}, "pg"),
        ([STORE], "3", {"store": "3"}, None),
        ([STORE], "neither of them", {"store": "neither of them"}, None),
        ([STORE], "deny", {"store": "deny"}, None),
        ([TESTS], "1,2", {"tests": ["u", "e"]}, None),
        ([TESTS], "1 2", {"tests": ["u", "e"]}, None),
        ([TESTS], "Unit, end to end", {"tests": ["u", "e"]}, None),
        ([TESTS], "7", {"tests": ["7"]}, None),
        ([TESTS | {"free": True}], "none, they are slow", {"tests": ["none, they are slow"]}, None),
        ([WHY], "a=b, c", {"why": "a=b, c"}, None),
        ([WHY], "1", {"why": "1"}, None),
        ([STORE, TESTS, WHY], "store=2 tests=1,2 why=so", {"store": "lite", "tests": ["u", "e"], "why": "so"}, None),
        ([STORE, WHY], "2=because 1=pg", {"store": "pg", "why": "because"}, None),
        ([STORE, WHY], "pg", {"store": "pg"}, None),
    ],
)  # fmt: skip
def test_what_is_typed_is_taken_as_meant(questions: list[Json], text: str, answers: Json, option: str | None) -> None:
    assert answers_to(request(*questions), text) == (answers, option)


def test_a_lost_call_is_run_again_by_the_number_of_that_choice() -> None:
    choices = [{"id": "tell", "label": "Tell the model as it is"}, {"id": "rerun", "label": "Run it again"}]
    lost = {"questions": [{"id": "lost", "text": "?", "options": choices, "multi": False}]}
    asked = request(WHY, **lost, options=[{**choice, "decision": "answer"} for choice in choices])
    assert answers_to(asked, "2") == ({"lost": "rerun"}, "rerun")
    assert answers_to(asked, "Run it again") == ({"lost": "rerun"}, "rerun")
    assert answers_to(asked, "tell") == ({"lost": "tell"}, "tell")


def test_a_card_shows_all_that_can_be_chosen_and_how() -> None:
    assert card(request(STORE), PLAIN) == [
        "╭ #4  Question: Store",
        "│ Which one?",
        "│   1. Postgres",
        "│      As in production",
        "│   2. SQLite",
        '╰ agent-ls answer 4 "…"  ·  agent-ls deny 4 "why"',
    ]
    assert card(request(STORE | {"free": True}, TESTS, WHY), PLAIN)[1:] == [
        "│ store: Which one?",
        "│   1. Postgres",
        "│      As in production",
        "│   2. SQLite",
        "│   (or in your own words)",
        "│ tests: Which tests?",
        "│   1. Unit",
        "│   2. End to end",
        "│   3. All",
        "│   (several, as 1,2)",
        "│ why: Why?",
        '╰ agent-ls answer 4 store=… tests=… why=…  ·  agent-ls deny 4 "why"',
    ]


def test_questions_and_steps_stand_in_the_transcript_where_they_were_asked_and_set() -> None:
    asked = {"tool": "ask", "title": "Question: Store", "state": "finished", "input": {}}
    done = {**asked, "result": {"status": "ok", "output": "Which one?\n-> SQLite"}}
    assert item({"kind": "tool_call", "status": "completed", "payload": done}, PLAIN) == [
        "● Question: Store",
        "    Which one?",
        "    -> SQLite",
    ]
    waiting = {**asked, "state": "awaiting_approval"}
    assert item({"kind": "tool_call", "status": "pending", "payload": waiting}, PLAIN) == [
        "○ Question: Store  waits for your answer"
    ]
    steps = [
        {"text": "look", "status": "done"},
        {"text": "write", "status": "active"},
        {"text": "x", "status": "pending"},
    ]
    set_ = {"tool": "todo", "title": "Steps", "input": {"steps": steps}, "result": {"status": "ok", "output": "3"}}
    assert item({"kind": "tool_call", "status": "completed", "payload": set_}, PLAIN) == [
        "● Steps",
        "    ☒ look",
        "    ◐ write",
        "    ☐ x",
    ]
