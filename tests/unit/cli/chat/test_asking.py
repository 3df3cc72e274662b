"""Single keys answer only what was shown, only when they were meant."""

from typing import Any

import pytest

from agent_ls.cli.chat.asking import ALONE_S, GUARD_S, Asking, Meant

Json = dict[str, Any]
SHOWN_AT = 0.0
LATER = GUARD_S


def request(number: int, **more: Any) -> Json:
    options = [{"id": "o", "label": "once", "decision": "allow", "scope": "once"}]
    known = {"id": f"c.q{number}", "number": number, "digest": "d", "kind": "approval", "options": options}
    return {**known, "status": "pending", **more}


def asked(*requests: Json) -> Asking:
    asking = Asking()
    for one in requests:
        asking.put(one)
    current = asking.to_show()
    assert current is not None
    asking.showed(current, SHOWN_AT)
    return asking


@pytest.mark.parametrize(("key", "how"), [("y", "allow"), ("n", "deny")])
def test_a_key_alone_answers_the_request_that_was_shown(key: str, how: str) -> None:
    asking = asked(request(7), request(8))
    assert (asking.press(key, LATER), asking.due(LATER), asking.held) == (True, pytest.approx(ALONE_S), key)
    assert asking.due(LATER + ALONE_S) == 0.0
    assert (asking.confirm(), asking.confirm()) == (Meant(how, request(7)), None)


def test_a_key_that_something_follows_is_text() -> None:
    asking = asked(request(7))
    asking.press("y", LATER)
    asking.let_go()
    assert (asking.due(LATER + 1), asking.confirm()) == (None, None)


@pytest.mark.parametrize("change", [request(7, digest="other"), request(7, status="resolved")])
def test_a_key_that_is_held_answers_nothing_that_came_after_it(change: Json) -> None:
    asking = asked(request(7), request(8))
    asking.press("y", LATER)
    asking.put(change)
    assert asking.confirm() is None


@pytest.mark.parametrize("key", ["x", "Y", "yes", "", "1"])
def test_other_keys_are_text(key: str) -> None:
    assert not asked(request(7)).press(key, LATER)


def test_a_card_that_has_just_appeared_takes_no_key() -> None:
    assert not asked(request(7)).press("y", LATER - 0.01)


def test_a_card_that_changed_is_shown_again_and_takes_no_key_before() -> None:
    asking = asked(request(7))
    asking.press("y", LATER)
    changed = request(7, digest="other")
    asking.put(changed)
    assert (asking.press("y", LATER), asking.was_shown(changed), asking.to_show()) == (False, False, changed)
    asking.showed(changed, LATER)
    assert (asking.press("y", LATER + GUARD_S - 0.01), asking.press("y", LATER + GUARD_S)) == (False, True)
    assert asking.confirm() == Meant("allow", changed)


def test_the_next_request_has_a_guard_of_its_own() -> None:
    asking = asked(request(7), request(8))
    settled = request(7, status="resolved")
    assert asking.put(settled) == request(7)
    assert (asking.to_show(), asking.press("y", LATER)) == (request(8), False)


def test_allowing_for_the_conversation_is_a_key_only_where_it_is_offered() -> None:
    wide = {"id": "w", "label": "always", "decision": "allow", "scope": "conversation"}
    assert not asked(request(7)).press("c", LATER)
    assert asked(request(7, options=[wide])).press("c", LATER)


def test_a_question_takes_no_single_key() -> None:
    assert not asked(request(7, kind="question")).press("y", LATER)
