"""Parameters are read strictly, refused with a sentence, and unknown fields do no harm."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ls.core.errors import Code, Refusal
from agent_ls.core.items import Block
from agent_ls.core.request import Decision
from agent_ls.wire import models
from agent_ls.wire.methods import CLIENT_NOTIFICATIONS, METHODS, NOTIFICATIONS, SERVER_REQUESTS, Direction

END = {"line": 3, "character": 0}
DEEP: Any = {}
for _ in range(70):
    DEEP = {"a": DEEP}
RESPOND = {"commandId": "k", "requestId": "c.r1.q1", "digest": "d", "decision": "allow"}
SEND = {"commandId": "k", "conversationId": "c", "content": [{"type": "text", "text": "hi"}]}


def test_parameters_arrive_with_python_names_and_core_types() -> None:
    read = METHODS["agent/message/send"].read({**SEND, "dispatch": "queue", "inventedLater": 1})
    assert read == models.SendMessage(
        command_id="k", conversation_id="c", content=(Block(type="text", text="hi"),), dispatch="queue"
    )


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("agent/message/send", {**SEND, "content": [{"type": "text", "text": "cut \ud83d"}]}),
        ("agent/message/send", {**SEND, "context": [{"type": "selection", "text": "\udc00"}]}),
        ("agent/request/respond", {**RESPOND, "input": {"markdown": "\ud800"}}),
        ("agent/request/respond", {**RESPOND, "input": {"\ud800": 1}}),
        ("agent/request/respond", {**RESPOND, "decision": "answer", "answers": {"a": ["\ud800"]}}),
    ],
)
def test_a_sign_that_was_cut_in_two_is_refused_wherever_it_stands(method: str, params: dict[str, Any]) -> None:
    refused = METHODS[method].read(params)
    assert isinstance(refused, Refusal)
    assert (refused.code, "half of a surrogate pair" in refused.message) == (Code.INVALID_PARAMS, True)


def test_no_parameters_are_an_empty_object() -> None:
    assert METHODS["agent/status"].read(None) == models.Params()


@pytest.mark.parametrize(
    ("method", "params", "sentence"),
    [
        ("agent/message/send", {}, "`commandId` is missing."),
        ("agent/message/send", {**SEND, "commandId": 7}, "`commandId` must be a string."),
        ("agent/message/send", {**SEND, "commandId": "x" * 201}, "`commandId` is longer than 200 characters."),
        ("agent/message/send", {**SEND, "commandId": ""}, "`commandId` is empty."),
        ("agent/message/send", {**SEND, "content": []}, "`content` must have at least 1 entry."),
        ("agent/message/send", {**SEND, "content": "hi"}, "`content` must be a list."),
        ("agent/message/send", {**SEND, "content": ["hi"]}, "`content[0]` must be an object."),
        (
            "agent/message/send",
            {**SEND, "content": [{"type": "text"}]},
            "`content[0]`: a block of type `text` needs `text`.",
        ),
        (
            "agent/message/send",
            {**SEND, "content": [{"type": "text", "text": " \n"}]},
            "`content`: the message is empty; write at least one word.",
        ),
        (
            "agent/message/send",
            {**SEND, "dispatch": "later"},
            "`dispatch` must be one of `auto`, `queue`, `steer`, `restart`, `start`.",
        ),
        *[
            (
                "agent/message/send",
                {**SEND, "context": [{"type": "file", "range": shape}]},
                "`context[0]`: `range` must be {start: {line, character}, end: {line, character}}.",
            )
            for shape in ({}, {"start": None}, {"start": {"line": "x", "character": 0}, "end": END}, {"start": END})
        ],
        (
            "agent/message/send",
            {**SEND, "context": [{"type": "file", "data": DEEP}]},
            "`context[0]`: it is nested more than 64 levels deep.",
        ),
        *[
            ("agent/request/respond", {**RESPOND, name: DEEP}, f"`{name}`: it is nested more than 64 levels deep.")
            for name in ("answers", "input")
        ],
        (
            "agent/queue/update",
            {"commandId": "k", "conversationId": "c", "op": "remove"},
            "`runId` is missing; op `remove` needs it.",
        ),
        ("agent/conversation/attach", {"conversationId": "c", "after": -1}, "`after` must be at least 0."),
        ("agent/conversation/attach", {"conversationId": "c", "backfill": 5}, "`backfill` must be an object."),
        ("agent/conversation/attach", ["c"], "params must be an object."),
        ("agent/drain", {"mode": "now"}, "`mode` must be one of `handoff`, `shutdown`."),
    ],
)
def test_a_wrong_parameter_is_refused_with_a_sentence(method: str, params: object, sentence: str) -> None:
    assert METHODS[method].read(params) == Refusal(Code.INVALID_PARAMS, sentence)


def test_what_was_sent_is_never_in_the_refusal() -> None:
    refusal = METHODS["agent/message/send"].read({**SEND, "dispatch": "sk-secret"})
    assert isinstance(refusal, Refusal)
    assert "sk-secret" not in str(refusal.as_data())


def test_more_than_a_page_gives_a_page() -> None:
    read = METHODS["agent/conversation/attach"].read({"conversationId": "c", "backfill": {"items": 10**9}})
    assert read == models.Attach(conversation_id="c", backfill=models.Backfill(items=models.PAGE_LIMIT))


def test_a_method_of_later_is_refused_by_name() -> None:
    for method in METHODS.values():
        if method.direction is Direction.REQUEST and not method.built:
            refusal = method.read({})
            assert isinstance(refusal, Refusal)
            assert (refusal.code, method.name in refusal.message) == (Code.UNSUPPORTED, True)


def test_every_command_that_changes_needs_an_id() -> None:
    changing = {name for name, method in METHODS.items() if method.changes and method.built}
    assert changing == {
        "agent/change/keep",
        "agent/change/undo",
        "agent/conversation/create",
        "agent/conversation/update",
        "agent/conversation/fork",
        "agent/conversation/mergeBack",
        "agent/conversation/compact",
        "agent/conversation/import",
        "agent/conversation/delete",
        "agent/message/send",
        "agent/queue/update",
        "agent/run/interrupt",
        "agent/run/hurry",
        "agent/run/retry",
        "agent/request/respond",
        "agent/shell/stop",
        "agent/lock/release",
        "agent/permission/add",
        "agent/permission/remove",
    }


def test_every_entry_is_complete() -> None:
    tables = (METHODS, CLIENT_NOTIFICATIONS, NOTIFICATIONS, SERVER_REQUESTS)
    entries = [(name, method) for table in tables for name, method in table.items()]
    assert len(entries) == 58
    assert [name for name, method in entries if name != method.name or not method.summary.endswith(".")] == []


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["commandId", "conversationId", "content", "type", "text", "op"]) | st.text(), inner
            )
        ),
    )
)
def test_no_parameters_whatever_raise(params: object) -> None:
    for method in METHODS.values():
        read = method.read(params)
        assert isinstance(read, method.params | Refusal)


def test_an_answer_keeps_whatever_form_it_has() -> None:
    raw = {"commandId": "k", "requestId": "r", "digest": "d", "decision": "answer", "answers": {"q": ["a", None]}}
    assert METHODS["agent/request/respond"].read(raw) == models.Respond(
        command_id="k", request_id="r", digest="d", decision=Decision.ANSWER, answers={"q": ["a", None]}
    )
