"""Stored text that is damaged: each read of it says so and what to do, and everything else can still be read."""

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import asyncpg
import pytest

from agent_ls.core.errors import Code
from agent_ls.ports.ledger import Ledger, LedgerError, ListQuery
from tests.contract.ledger.make import Engine, PostgresEngine, SqliteEngine, accepted, append, begun, commit, request

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("engine", ["sqlite", "postgresql"], indirect=True)]

GARBAGE = (b"\xff\xfe\x00garbage", b'{"id": "c1", "title": "cut o', b"secret words")

Read = Callable[[Ledger], Awaitable[object]]
READS: dict[str, Read] = {
    "load": lambda ledger: ledger.load("c1"),
    "head": lambda ledger: ledger.head("c1"),
    "read": lambda ledger: ledger.read("c1", 0, 10),
    "find": lambda ledger: ledger.find("c1"),
    "summary": lambda ledger: ledger.summary("c1"),
    "number": lambda ledger: ledger.request_by_number(1),
}


@pytest.mark.parametrize("garbage", GARBAGE)
async def test_every_read_says_so_and_lists_show_the_rest(engine: Engine, garbage: bytes) -> None:
    ledger = await engine.opened()
    for known, number in (("c1", 1), ("c2", 2)):
        epoch = await begun(ledger, known)
        asked = request(id=f"{known}.q1", conversation_id=known, number=number)
        await append(ledger, commit(asked, conversation_id=known, epoch=epoch))
    await damage(engine, "event", "entity", garbage)
    for name, read in READS.items():
        with pytest.raises(LedgerError) as refused:
            await read(ledger)
        told = refused.value.refusal
        assert (name, told.code, told.retryable) == (name, Code.LEDGER_UNAVAILABLE, False)
        assert "is damaged" in told.message
        assert "backup" in told.hint
        assert "secret" not in str(told)
    found, _ = await ledger.conversations(ListQuery())
    assert [each.conversation.id for each in found] == ["c2"]
    assert [each.id for each in await ledger.requests(None, None)] == ["c2.q1"]
    assert (await ledger.load("c2")) is not None
    await ledger.close()


@pytest.mark.parametrize("garbage", GARBAGE)
async def test_the_answer_to_a_command_that_is_damaged_is_not_made_up(engine: Engine, garbage: bytes) -> None:
    if isinstance(engine, PostgresEngine):
        garbage = garbage.replace(b"\xff\xfe\x00", b"")
    ledger = await engine.opened()
    epoch = await begun(ledger)
    await append(ledger, commit(epoch=epoch, receipt=accepted("k1", n=1)))
    await damage(engine, "receipt", "result", garbage)
    with pytest.raises(LedgerError) as refused:
        await ledger.receipt("k1")
    assert "is damaged" in refused.value.refusal.message
    with pytest.raises(LedgerError):
        await ledger.append(commit(epoch=epoch, receipt=accepted("k1", n=1)))
    await ledger.close()


async def damage(engine: Engine, table: str, column: str, garbage: bytes) -> None:
    """As a bad disk does it, beneath every guard."""
    if isinstance(engine, SqliteEngine):
        damage_file(engine.path, table, column, garbage=garbage)
        return
    assert isinstance(engine, PostgresEngine)
    connection = await asyncpg.connect(engine.url)
    await connection.execute(f"ALTER TABLE agent_ls.{table} DISABLE TRIGGER USER")
    value: bytes | str = garbage if column == "entity" else garbage.decode()
    await connection.execute(f"UPDATE agent_ls.{table} SET {column} = $1 WHERE conversation_id = 'c1'", value)
    await connection.close()


def damage_file(path: Path, table: str, column: str, *, garbage: bytes) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.execute("DROP TRIGGER event_is_never_changed")
        file.execute(f"UPDATE {table} SET {column} = CAST(? AS TEXT) WHERE conversation_id = 'c1'", (garbage,))
        file.commit()
