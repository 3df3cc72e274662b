"""Random histories read the same on every engine, and the newest state is the fold of the events."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_ls.core.effects import drive
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import AnyEntity
from agent_ls.core.items import AssistantMessage, Item, ItemKind, Notice
from agent_ls.core.request import RequestStatus
from agent_ls.core.run import RunStatus
from agent_ls.ports.ledger import Ledger, ListQuery, Receipt
from agent_ls.testing.postgres import PostgresServer
from tests.contract.ledger.make import (
    OWNER,
    Engine,
    MemoryEngine,
    PostgresEngine,
    SqliteEngine,
    at,
    attempt,
    commit,
    conversation,
    item,
    request,
    run,
    stop,
)

IDS = ("c1", "c2", "c3")
COMMANDS = ("k1", "k2", "k3", "k4")

small = st.integers(0, 3)
seconds = st.integers(0, 100)


@st.composite
def entities(draw: st.DrawFn, id_: str) -> AnyEntity:
    n = draw(small)
    match draw(st.sampled_from(["conversation", "run", "attempt", "answer", "notice", "request"])):
        case "conversation":
            title = draw(st.text(min_size=1, max_size=5))
            return conversation(id_, title=title, workspace=f"file:///w{n}", archived=draw(st.booleans()))
        case "run":
            noted = stop() if draw(st.booleans()) else None
            return run(id_, n, status=draw(st.sampled_from(RunStatus)), interrupt=noted)
        case "attempt":
            return attempt(id_, n, steps=draw(small))
        case "answer":
            return item(id_, n, payload=AssistantMessage(text=draw(st.text(min_size=1, max_size=5))))
        case "notice":
            return item(id_, n + 4, kind=ItemKind.NOTICE, payload=Notice(code="x", message=draw(st.text())))
        case _:
            number = 1 + n + 4 * IDS.index(id_)
            return request(id_, number, status=draw(st.sampled_from(RequestStatus)))


@st.composite
def steps(draw: st.DrawFn) -> tuple[str, str, Any]:
    id_ = draw(st.sampled_from(IDS))
    name = draw(st.sampled_from(["append"] * 8 + ["claim", "release", "delete", "reserve", "partial", "drop"]))
    if name != "append":
        return name, id_, draw(st.sampled_from(["boot-1", "boot-2"]))
    facts = draw(st.lists(entities(id_), max_size=4))
    wanted = commit(*facts, conversation_id=id_, at=at(draw(seconds)))
    effects = [drive(f"{id_}.{n}", id_) for n in draw(st.lists(small, max_size=2))]
    settled = [f"{id_}.{n}" for n in draw(st.lists(small, max_size=2))]
    receipt = draw(st.none() | st.sampled_from(COMMANDS))
    kept = None
    if receipt is not None and draw(st.booleans()):
        kept = Receipt(receipt, id_, result={"n": draw(small)})
    elif receipt is not None:
        kept = Receipt(receipt, id_, refusal=Refusal(Code.QUEUE_FULL, draw(st.text(max_size=3)), data={"n": 1}))
    return name, id_, replace(wanted, effects=effects, settled=settled, receipt=kept)


@pytest.mark.timeout(120)
@settings(max_examples=60, deadline=None)
@given(st.lists(steps(), max_size=25))
def test_random_histories_read_the_same_in_sqlite(history: list[tuple[str, str, Any]]) -> None:
    with tempfile.TemporaryDirectory(prefix="als-h-", dir="/tmp") as directory:
        anyio.run(_compare, history, SqliteEngine(Path(directory, "ledger.db")))


@pytest.mark.timeout(120)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(steps(), max_size=25))
def test_random_histories_read_the_same_in_postgresql(
    postgres_server: PostgresServer, database: PostgresEngine, history: list[tuple[str, str, Any]]
) -> None:
    # Another owner is refused there (test_ledger_claims.py), which is no matter of reading.
    ours = [(name, id_, OWNER if name == "claim" else value) for name, id_, value in history]
    postgres_server.emptied(database.url)
    anyio.run(_compare, ours, database)


async def _compare(history: list[tuple[str, str, Any]], other: Engine) -> None:
    engines = (MemoryEngine(), other)
    memory, real = [await engine.opened() for engine in engines]
    for id_ in IDS:
        assert await memory.claim(id_, OWNER) == await real.claim(id_, OWNER)
    for step in history:
        assert await _do(memory, step) == await _do(real, step), step
    assert await _everything(memory) == await _everything(real)
    await _check_fold(real)
    await memory.close()
    await real.close()
    memory, real = [await engine.opened() for engine in engines]
    assert await _everything(memory) == await _everything(real)
    # A number that was given out and never committed may be given again, or not.
    assert await memory.reserve_numbers(1) <= await real.reserve_numbers(1)
    await memory.close()
    await real.close()


async def _do(ledger: Ledger, step: tuple[str, str, Any]) -> object:
    name, id_, value = step
    match name:
        case "claim":
            return await ledger.claim(id_, value)
        case "release":
            return await ledger.release(id_, value)
        case "delete":
            return await ledger.delete(id_, f"delete {id_}")
        case "reserve":
            return await ledger.reserve_numbers(2)
        case "partial":
            return ledger.keep_partial(id_, value, "so far")
        case "drop":
            return await ledger.drop_partials(id_)
        case _:
            done = await ledger.append(value)
            return done if isinstance(done, Refusal) else (list(done.events), done.seq, done.receipt)


async def _everything(ledger: Ledger) -> dict[str, object]:
    seen: dict[str, object] = {}
    for id_ in IDS:
        loaded = await ledger.load(id_)
        seen[f"load {id_}"] = loaded
        seen[f"head {id_}"] = await ledger.head(id_)
        seen[f"events {id_}"] = list(await ledger.read(id_, 0, 1000))
        seen[f"pages {id_}"] = await _pages(ledger, id_)
        seen[f"summary {id_}"] = await ledger.summary(id_)
        seen[f"partials {id_}"] = await ledger.partials(id_)
        seen[f"requests {id_}"] = list(await ledger.requests(None, id_))
        for entity in loaded.entities if loaded else ():
            assert await ledger.find(entity.id) == entity
    for workspace in (None, "file:///w1", "file:///w2"):
        seen[f"requests {workspace}"] = list(await ledger.requests(workspace, None))
        for archived in (False, True):
            query = ListQuery(workspace=workspace, archived=archived, limit=1)
            seen[f"list {workspace} {archived}"] = await _list(ledger, query)
    seen["numbers"] = [await ledger.request_by_number(n) for n in range(1, 13)]
    seen["receipts"] = [await ledger.receipt(id_) for id_ in COMMANDS]
    seen["owed"] = list(await ledger.owed())
    seen["events"] = (await ledger.status()).events
    return seen


async def _pages(ledger: Ledger, id_: str) -> list[Sequence[Item]]:
    pages, cursor = [], None
    while True:
        page = await ledger.page(id_, cursor, 2)
        pages.append(list(page.items))
        cursor = page.older
        if cursor is None:
            return pages


async def _list(ledger: Ledger, query: ListQuery) -> list[object]:
    found: list[object] = []
    while True:
        some, cursor = await ledger.conversations(query)
        found.extend(some)
        if cursor is None:
            return found
        query = replace(query, cursor=cursor)


async def _check_fold(ledger: Ledger) -> None:
    for id_ in IDS:
        events = await ledger.read(id_, 0, 1000)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        folded = {event.entity.id: event.entity for event in events}
        loaded = await ledger.load(id_)
        assert {entity.id: entity for entity in loaded.entities} == folded if loaded else not folded
