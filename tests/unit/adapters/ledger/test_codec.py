"""Entities as JSON and back."""

import json
from typing import Any

import pytest

from agent_ls.adapters.ledger import codec
from agent_ls.core.attempt import Attempt, AttemptStatus, Reason
from agent_ls.core.conversation import Compacting, Conversation, Mode
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import AnyEntity, Event, EventKind, kind_of
from agent_ls.core.items import (
    PAYLOADS,
    AssistantMessage,
    Block,
    Call,
    CallState,
    Compaction,
    ContextItem,
    Handoff,
    Interruption,
    Item,
    ItemKind,
    ItemStatus,
    Notice,
    Payload,
    Plan,
    Question,
    Reasoning,
    ResultStatus,
    Subagent,
    TodoList,
    ToolResult,
    Usage,
    UserMessage,
)
from agent_ls.core.request import Decision, Option, Request, RequestKind, RequestStatus
from agent_ls.core.run import Interrupt, Run, RunStatus
from agent_ls.wire.encode import to_wire

AT = "2026-01-31T12:00:00.000Z"


def item(kind: ItemKind, payload: Payload, **rest: Any) -> Item:
    fields = {"id": "i1", "conversation_id": "c1", "run_id": "r1", "ord": 0, "status": ItemStatus.COMPLETED}
    return Item(kind=kind, payload=payload, **{**fields, "created_at": AT, **rest})


CALL = Call(
    call_id="call_1",
    tool="shell",
    input={"snake_case": None, "list": [1, 2.5, None]},
    state=CallState.FINISHED,
    keys=("file:///a",),
    result=ToolResult(
        status=ResultStatus.OK,
        output="two\nlines\u2028\x00",
        exit_code=0,
        images=(Block(type="image", mime_type="image/png", data="AA=="),),
        data={"pid": 1},
    ),
)
PAYLOAD_OF: dict[ItemKind, Payload] = {
    ItemKind.USER_MESSAGE: UserMessage(
        content=(Block(type="text", text="hi"), Block(type="file", uri="file:///a", range={"start": 1})),
        context=(ContextItem(type="selection", data=[1]),),
    ),
    ItemKind.ASSISTANT_MESSAGE: AssistantMessage(text="yes", model="m", usage=Usage(input_tokens=3, cost_usd=0.5)),
    ItemKind.REASONING: Reasoning(text="hm", provider="p", raw={"signature": "x"}),
    ItemKind.TOOL_CALL: CALL,
    ItemKind.COMMAND: CALL,
    ItemKind.FILE_CHANGE: CALL,
    ItemKind.NOTICE: Notice(code="x", message="y"),
    ItemKind.ERROR: Notice(code="x", message="y", hint="z"),
    ItemKind.INTERRUPT: Interruption(by="ada", from_="vscode"),
    ItemKind.QUESTION: Question(questions=({"text": "which?"},), answers={"0": "that"}),
    ItemKind.PLAN: Plan(markdown="# A", state="proposed", call_id="call_1"),
    ItemKind.SUBAGENT: Subagent(
        conversation_id="sub_1", task="look", status="waiting", requests=(3,), steps=({"text": "a"},), usage=Usage()
    ),
    ItemKind.COMPACTION: Compaction(
        summary="It was long.", first_kept="i4", summarized=3, kept_from=4, messages=("i1",), usage=Usage()
    ),
    ItemKind.HANDOFF: Handoff(strategy="merge_back", from_="c2", to="c1", text="so", omitted=("2 more",), through=7),
    ItemKind.TODO_LIST: TodoList(steps=({"text": "a", "status": "open"},)),
}
CONVERSATION = Conversation(
    id="c1",
    workspace="file:///w",
    title="T",
    provider="p",
    model="m",
    mode=Mode.PLAN,
    created_at=AT,
    updated_at=AT,
    rules=({"tool": "shell", "allow": True},),
    compacting=Compacting(id="c1.k4", by="ada", from_="vscode", at=AT, instructions="Keep the plan."),
)
ENTITIES: list[AnyEntity] = [
    CONVERSATION,
    Run(
        id="r1",
        conversation_id="c1",
        ordinal=1,
        status=RunStatus.RUNNING,
        created_at=AT,
        content=(Block(type="text", text="hi"),),
        interrupt=Interrupt(by="ada", from_="cli", at=AT),
        error={"code": "x"},
    ),
    Attempt(
        id="a1",
        run_id="r1",
        conversation_id="c1",
        n=1,
        reason=Reason.RETRY,
        status=AttemptStatus.RUNNING,
        read_through=4,
        epoch=2,
        created_at=AT,
        usage=Usage(output_tokens=2),
        answers=("i1",),
    ),
    Request(
        id="q1",
        number=3,
        conversation_id="c1",
        run_id="r1",
        item_id="i1",
        kind=RequestKind.APPROVAL,
        title="Run?",
        options=(Option(id="o", label="Allow", decision=Decision.ALLOW, scope="once"),),
        digest="d",
        status=RequestStatus.PENDING,
        created_at=AT,
        input={"a": None},
    ),
    *(item(kind, payload, parent_id="i0") for kind, payload in PAYLOAD_OF.items()),
    item(ItemKind.COMPACTION, Compaction(summary="All of it.", summarized=4, mode="all")),
]


def test_every_kind_of_item_that_has_a_payload_is_tried_here() -> None:
    assert PAYLOAD_OF.keys() == PAYLOADS.keys()


@pytest.mark.parametrize("entity", ENTITIES, ids=lambda entity: f"{kind_of(entity)}-{getattr(entity, 'kind', '')}")
def test_an_entity_comes_back_as_it_was(entity: AnyEntity) -> None:
    assert codec.decode(kind_of(entity), codec.encode(entity)) == entity


def test_fields_are_spelled_in_camel_case_and_nothing_empty_is_written() -> None:
    written = json.loads(codec.encode(item(ItemKind.INTERRUPT, Interruption(by="ada", from_="cli"))))
    assert written == {
        "id": "i1",
        "conversationId": "c1",
        "runId": "r1",
        "ord": 0,
        "kind": "interrupt",
        "status": "completed",
        "payload": {"by": "ada", "from": "cli"},
        "createdAt": AT,
    }


def test_what_a_person_or_model_wrote_keeps_its_own_keys() -> None:
    written = to_wire(CALL)
    assert written["input"] == {"snake_case": None, "list": [1, 2.5, None]}


def test_fields_of_a_newer_version_are_ignored() -> None:
    raw = {**json.loads(codec.encode(CONVERSATION)), "fromTheFuture": [1]}
    assert codec.decode(EventKind.CONVERSATION, json.dumps(raw)) == CONVERSATION


@pytest.mark.parametrize(
    "change",
    [{"kind": "hologram"}, {"kind": "plan"}, {"payload": {"unknown": 1}}, {"status": "shining"}, {"payload": None}],
)
def test_an_item_of_a_newer_version_is_a_notice_in_its_place(change: dict[str, Any]) -> None:
    raw = {**json.loads(codec.encode(item(ItemKind.TOOL_CALL, CALL, parent_id="i0"))), **change}
    shown = codec.decode(EventKind.ITEM, json.dumps(raw))
    assert isinstance(shown, Item)
    assert isinstance(shown.payload, Notice)
    assert (shown.id, shown.ord, shown.parent_id, shown.kind) == ("i1", 0, "i0", ItemKind.NOTICE)
    assert shown.payload.code == codec.UNREADABLE


def test_anything_else_that_this_version_does_not_know_is_a_typed_error() -> None:
    for kind in (EventKind.RUN, EventKind.ITEM, "hologram"):
        with pytest.raises(codec.Unreadable) as refused:
            codec.decode(kind, b'{"id": "r1"}')
        assert refused.value.refusal.code is Code.SCHEMA_TOO_NEW


@pytest.mark.parametrize("data", [b"", b"[]", b"not json", b'{"id": "r\xff1"}', b"\xff\xfe", b'{"id": "r1'])
def test_what_no_version_has_written_is_damaged_and_no_newer_agent_ls_is_asked_for(data: bytes) -> None:
    for kind in (EventKind.RUN, EventKind.ITEM, "hologram"):
        with pytest.raises(codec.Damaged) as refused:
            codec.decode(kind, data)
        told = refused.value.refusal
        assert (told.code, told.retryable, told.data) == (Code.LEDGER_UNAVAILABLE, False, {"damaged": True})
        assert "backup" in told.hint
    for decode in (codec.decode_result, codec.decode_refusal):
        with pytest.raises(codec.Damaged):
            decode(data)


def test_half_a_surrogate_pair_is_replaced_not_refused() -> None:
    broken = item(ItemKind.NOTICE, Notice(code="x", message="name \udcff.txt"))
    stored = codec.decode(EventKind.ITEM, codec.encode(broken))
    assert stored == item(ItemKind.NOTICE, Notice(code="x", message="name ?.txt"))


def test_an_event_is_written_once() -> None:
    event = Event("c1", 7, AT, EventKind.CONVERSATION, "created", CONVERSATION)
    made = codec.event_json(event)
    assert json.loads(made) == {
        "seq": 7,
        "at": AT,
        "kind": "conversation",
        "fact": "created",
        "entity": to_wire(CONVERSATION),
    }
    assert codec.event_json(event) is made
    assert event == Event("c1", 7, AT, EventKind.CONVERSATION, "created", CONVERSATION)


def test_a_refusal_comes_back_as_it_was() -> None:
    refusal = Refusal(Code.ALREADY_DECIDED, "No.", "Way out.", {"by": "ada", "n": [1, None]})
    assert codec.decode_refusal(codec.encode_refusal(refusal)) == refusal
