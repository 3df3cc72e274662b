"""What subagents ask is asked in the chat of the conversation that they work for."""

from typing import Any

import pytest

from agent_ls.cli.chat.commands import Commands
from agent_ls.cli.chat.talk import Talk

Json = dict[str, Any]
NOTHING: Any = None


def request(number: int, conversation: str, *above: str) -> Json:
    origin = {"origin": {"conversationIds": list(above), "task": "look"}} if above else {}
    return {
        "id": f"{conversation}.q{number}",
        "number": number,
        "conversationId": conversation,
        "digest": "d",
        **origin,
    }


def talk() -> Talk:
    made = Talk(NOTHING, NOTHING, NOTHING, now=lambda: 0.0, chosen={})
    made.link.conversation_id = "c1"
    return made


def test_requests_of_subagents_are_asked_here_until_they_are_settled() -> None:
    chat = talk()
    child, grandchild, stranger = request(2, "sub_a", "c1"), request(3, "sub_b", "c1", "sub_a"), request(1, "c2")
    chat._told("agent/request/changed", {"requests": [stranger, child, grandchild]})
    assert chat.asking.current == child
    assert set(chat.asking.waiting) == {child["id"], grandchild["id"]}
    assert chat.elsewhere == 1
    chat._told("agent/request/changed", {"requests": [grandchild]})
    assert chat.asking.current == grandchild
    assert chat.elsewhere == 0
    chat._told("agent/request/changed", {"requests": []})
    assert chat.asking.current is None


def test_a_request_of_the_conversation_itself_is_settled_by_its_own_events() -> None:
    chat = talk()
    own = request(4, "c1")
    chat.asking.put({**own, "status": "pending"})
    chat._told("agent/request/changed", {"requests": []})
    assert set(chat.asking.waiting) == {own["id"]}


def test_one_that_was_just_answered_here_is_not_asked_again() -> None:
    chat = talk()
    child = request(2, "sub_a", "c1")
    chat._answered.add(child["id"])
    chat._told("agent/request/changed", {"requests": [child]})
    assert chat.asking.current is None
    chat._told("agent/request/changed", {"requests": []})
    assert chat._answered == set()


OPTIONS = [
    {"id": "allow_once", "label": "Once", "decision": "allow", "scope": "once"},
    {"id": "allow_conversation", "label": "C", "decision": "allow", "scope": "conversation", "rule": "shell(git x)"},
    {
        "id": "allow_conversation_prefix",
        "label": "P",
        "decision": "allow",
        "scope": "conversation",
        "rule": "shell(git *)",
    },
]


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("/allow", {"scope": "once"}),
        ("/allow 1 conversation", {"scope": "conversation"}),
        ("/allow prefix", {"scope": "conversation", "optionId": "allow_conversation_prefix"}),
    ],
)
def test_what_the_card_offers_can_be_allowed(monkeypatch: pytest.MonkeyPatch, typed: str, sent: dict[str, str]) -> None:
    chat = talk()
    decided: list[Json] = []
    monkeypatch.setattr(chat, "decide", lambda _request, _decision, **how: decided.append(how))
    asked = {**request(1, "c1"), "kind": "approval", "title": "$ git x", "options": OPTIONS}
    chat.asking.put(asked)
    chat.asking.showed(asked, 0.0)
    assert Commands(chat).run(typed)
    assert decided == [sent]
