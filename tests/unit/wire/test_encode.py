"""What is sent has the names of the protocol, and nothing that says nothing."""

from dataclasses import asdict

import pytest
from pydantic import TypeAdapter

from agent_ls.core.conversation import Conversation, ConversationStatus, Mode
from agent_ls.core.events import Event, EventKind
from agent_ls.core.items import Call, CallState, Item, ItemKind, ItemStatus, ResultStatus, ToolResult
from agent_ls.core.projection import status_of
from agent_ls.core.run import Interrupt
from agent_ls.wire import views
from agent_ls.wire.encode import to_wire

CONVERSATION = Conversation(
    id="c",
    workspace="file:///w",
    title="t",
    provider="demo",
    model="m",
    mode=Mode.ASK,
    created_at="2026-01-01T00:00:00Z",
    updated_at="2026-01-01T00:00:00Z",
)
CALL = Item(
    id="i",
    conversation_id="c",
    run_id="r",
    ord=3,
    kind=ItemKind.COMMAND,
    status=ItemStatus.FAILED,
    created_at="2026-01-01T00:00:00Z",
    payload=Call(
        call_id="call_1",
        tool="shell",
        input={"command": "false", "timeout": None},
        state=CallState.FINISHED,
        result=ToolResult(status=ResultStatus.ERROR, exit_code=1),
    ),
)


def test_an_item_has_the_names_of_the_protocol() -> None:
    assert to_wire(CALL) == {
        "id": "i",
        "conversationId": "c",
        "runId": "r",
        "ord": 3,
        "kind": "command",
        "status": "failed",
        "createdAt": "2026-01-01T00:00:00Z",
        "payload": {
            "callId": "call_1",
            "tool": "shell",
            "input": {"command": "false", "timeout": None},
            "state": "finished",
            "keys": [],
            "effect": "other",
            "replay": "ask",
            "result": {"status": "error", "output": "", "exitCode": 1, "images": []},
        },
    }


def test_what_is_sent_can_be_read_back() -> None:
    assert TypeAdapter(Item).validate_python(to_wire(CALL)) == CALL


def test_a_name_that_python_keeps_for_itself_is_spelled_plainly() -> None:
    sent = to_wire(Interrupt(by="you", from_="vscode", at="t"))
    assert sent == {"by": "you", "from": "vscode", "at": "t", "holdQueue": True}


def test_an_event_leaves_the_conversation_to_its_notification() -> None:
    event = Event("c", 7, "t", EventKind.ITEM, "added", CALL)
    assert views.event(event) == {"seq": 7, "at": "t", "kind": "item", "fact": "added", "entity": to_wire(CALL)}


def test_a_conversation_shows_what_follows_from_its_runs() -> None:
    sent = views.summary(CONVERSATION, ConversationStatus.WAITING, pending_requests=2, last_text="hm")
    assert sent == {
        **to_wire(CONVERSATION),
        "status": "waiting",
        "pendingRequests": 2,
        "lastText": "hm",
    }
    assert set(asdict(CONVERSATION)) >= {"queue_held", "archived"}


@pytest.mark.parametrize(
    ("active", "queued", "pending", "stopping", "status"),
    [
        (False, 0, 0, False, "idle"),
        (False, 2, 0, False, "queued"),
        (True, 1, 0, False, "running"),
        (True, 0, 1, False, "waiting"),
        (True, 0, 1, True, "stopping"),
    ],
)
def test_the_status_of_a_conversation(*, active: bool, queued: int, pending: int, stopping: bool, status: str) -> None:
    assert status_of(active=active, queued=queued, pending=pending, stopping=stopping) == ConversationStatus(status)


def test_what_has_no_form_is_a_bug() -> None:
    with pytest.raises(TypeError, match="no form"):
        to_wire(object())
