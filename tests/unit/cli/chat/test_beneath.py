"""What subagents ask is asked in the chat of the conversation that they work for."""

from typing import Any

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
