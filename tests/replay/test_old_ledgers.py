"""Ledgers as earlier versions wrote them: every later version reads each of them and goes on with it.

The files are frozen (freeze.py made them); a test that fails here is a reason for a migration or an upcaster, never for
a new file in the old one's place.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent_ls.adapters.ledger import codec, jsonl, upcast
from agent_ls.adapters.ledger.sqlite import SqliteLedger
from agent_ls.core.attempt import AttemptFact
from agent_ls.core.events import EventKind, Fact
from agent_ls.core.fork import border, forked
from agent_ls.core.imported import Found
from agent_ls.core.invariants import check_history, violations
from agent_ls.core.items import AssistantMessage, Item, Notice
from agent_ls.core.lineage import Base
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Request, RequestFact, RequestStatus, evolve
from agent_ls.core.run import RunStatus
from agent_ls.core.step import end
from agent_ls.ports.ledger import Commit, ListQuery
from tests.contract.ledger.make import FakeClock, append, claimed, commit

pytestmark = pytest.mark.anyio

HERE = Path(__file__).parent
FROZEN = sorted(path.stem for path in HERE.glob("*.sql"))
ID = "cfa8847b0c3318327"


def thawed(name: str, folder: Path) -> SqliteLedger:
    path = folder / "ledger.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript((HERE / f"{name}.sql").read_text(encoding="utf-8"))
    return SqliteLedger.open(path, clock=FakeClock(), boot_id="now")


def written(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").split("\n") if line]


async def state_of(ledger: SqliteLedger) -> ConversationState:
    snapshot = await ledger.load(ID)
    assert snapshot is not None
    return ConversationState.of(snapshot.entities, snapshot.seq)


@pytest.mark.parametrize("name", FROZEN)
async def test_every_event_is_read_as_it_was_meant(name: str, state_dir: Path) -> None:
    ledger = thawed(name, state_dir)
    events = await ledger.read(ID, 0, 1000)
    lines = written(name)
    await ledger.close()
    assert [(e.seq, e.at, e.kind, e.fact, e.entity.id) for e in events] == [
        (line["seq"], line["at"], line["kind"], line["fact"], line["entity"]["id"]) for line in lines
    ]
    assert check_history(events) == []
    unread = [e for e in events if isinstance(e.entity, Item) and _is_unread(e.entity)]
    assert unread == []
    assert [json.loads(codec.event_json(event))["seq"] for event in events] == [line["seq"] for line in lines]


@pytest.mark.parametrize("name", FROZEN)
async def test_the_state_is_sound_and_says_what_it_said(name: str, state_dir: Path) -> None:
    ledger = thawed(name, state_dir)
    state = await state_of(ledger)
    listed, _ = await ledger.conversations(ListQuery())
    pending = await ledger.requests(None, None)
    blob = await ledger.get_blob("865d537d3b3ab8b411017c5285c636e26ceb11aa21e05e0e75025190669f3945")
    owed = await ledger.owed()
    await ledger.close()
    assert violations(state, live=True, unsettled=()) == []
    assert [run.status for run in state.runs.values()] == [
        RunStatus.COMPLETED,
        RunStatus.INTERRUPTED,
        RunStatus.RUNNING,
    ]
    said = [item.payload.text for item in state.items.values() if isinstance(item.payload, AssistantMessage)]
    assert said == ["I look into it.", "Done, ärgerlich \u2028 \U0001f600.", "Once more.", "And again."]
    assert [(each.conversation.title, each.pending_requests, each.active_run) for each in listed] == [
        ("first", 1, True)
    ]
    assert [(request.number, request.status) for request in pending] == [(4, RequestStatus.PENDING)]
    assert (blob, owed) == (b"a blob of old", [])


@pytest.mark.parametrize("name", FROZEN)
async def test_the_conversation_goes_on(name: str, state_dir: Path) -> None:
    ledger = thawed(name, state_dir)
    epoch = await claimed(ledger, ID, "now")
    state = await state_of(ledger)
    at = "2026-03-01T00:00:00.000Z"
    decision = end(state, f"{ID}.r3", AttemptFact.INTERRUPTED, at=at)
    assert decision is not None
    done = await append(ledger, Commit(conversation_id=ID, epoch=epoch, at=at, facts=decision.facts))
    assert done.seq == len(written(name)) + len(decision.facts)
    state = await state_of(ledger)
    assert state.runs[f"{ID}.r3"].status is RunStatus.INTERRUPTED
    assert await ledger.requests(None, None) == []
    assert violations(state, live=False, unsettled=()) == []
    await ledger.close()


@pytest.mark.parametrize("name", FROZEN)
def test_an_export_of_then_can_be_read_line_by_line(name: str) -> None:
    records = list(jsonl.JsonLines(str(HERE / f"{name}.jsonl")).records())
    assert [record.seq for record in records if isinstance(record, Found)] == [line["seq"] for line in written(name)]
    assert len(records) == len(written(name))


def a_later_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that calls a request's title its `headline`, and knows version 3 of requests."""

    def headline(raw: dict[str, Any]) -> dict[str, Any]:
        return {**raw, "title": f"{raw['title']}!"}

    def numbered(raw: dict[str, Any]) -> dict[str, Any]:
        return {**raw, "title": f"{raw['title']} (#{raw['number']})"}

    monkeypatch.setattr(upcast, "STEPS", {**upcast.STEPS, EventKind.REQUEST: (headline, numbered)})


@pytest.mark.parametrize("name", FROZEN)
async def test_an_old_entity_is_upcast_when_it_is_read(
    name: str, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = thawed(name, state_dir)
    (before,) = await ledger.requests(None, None)
    a_later_version(monkeypatch)
    (after,) = await ledger.requests(None, None)
    assert after.title == f"{before.title}! (#4)"
    event = next(e for e in await ledger.read(ID, 0, 1000) if e.entity.id == after.id)
    seen = json.loads(codec.event_json(event))["entity"]
    assert (seen["title"], seen["v"]) == (after.title, 3)
    await ledger.close()


async def test_what_is_written_now_says_its_version_and_is_not_upcast_again(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = thawed(FROZEN[0], state_dir)
    epoch = await claimed(ledger, ID, "now")
    a_later_version(monkeypatch)
    (request,) = await ledger.requests(None, None)
    moved = evolve(request, RequestFact.CANCELLED)
    await append(
        ledger, Commit(conversation_id=ID, epoch=epoch, at=moved.created_at, facts=[Fact(RequestFact.CANCELLED, moved)])
    )
    assert await ledger.find(request.id) == moved
    await ledger.close()


def test_a_version_that_is_newer_is_not_guessed_at(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = written(FROZEN[0])
    request = next(line["entity"] for line in lines if line["kind"] == "request")
    item = next(line["entity"] for line in lines if line["kind"] == "item")
    with pytest.raises(codec.Unreadable):
        codec.decode(EventKind.REQUEST, json.dumps({**request, "v": 2}))
    shown = codec.decode(EventKind.ITEM, json.dumps({**item, "v": 2}))
    assert isinstance(shown, Item)
    assert _is_unread(shown)
    assert isinstance(codec.decode(EventKind.REQUEST, json.dumps({**request, "v": 1})), Request)


def _is_unread(item: Item) -> bool:
    return isinstance(item.payload, Notice) and item.payload.code == codec.UNREADABLE


@pytest.mark.parametrize("name", FROZEN)
async def test_a_fork_of_an_old_conversation_is_sound_and_has_old_entities_upcast(
    name: str, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = thawed(name, state_dir)
    parent = await state_of(ledger)
    items = sorted(parent.items.values(), key=lambda item: item.ord)
    last = border(items, items[-1].ord)
    assert last is not None
    made = forked(parent.conversation, last, "fork", title=None, at="2026-03-01T00:00:00.000Z")
    epoch = await claimed(ledger, made.id, "now")
    base = Base(conversation_id=ID, through=last.ord)
    await append(ledger, commit(made, epoch=epoch, conversation_id=made.id, base=base))
    a_later_version(monkeypatch)
    snapshot = await ledger.load(made.id)
    assert snapshot is not None
    state = ConversationState.of(snapshot.entities, snapshot.seq)
    assert violations(state, live=False, unsettled=()) == []
    settled = {f"{request.title}! (#{request.number})" for request in parent.requests.values() if not request.pending}
    assert {request.title for request in state.requests.values()} == settled
    assert len(state.items) == sum(item.ord <= last.ord for item in items)
    await ledger.close()
