"""What is true of the PostgreSQL database alone: schema, guards, what it cannot store, what must not be shown."""

import logging

import anyio
import asyncpg
import pytest

from agent_ls.adapters.ledger.postgres.ledger import PostgresLedger
from agent_ls.adapters.ledger.postgres.links import Server
from agent_ls.adapters.ledger.postgres.schema import MIGRATIONS, Migration
from agent_ls.core.errors import Code
from agent_ls.core.items import AssistantMessage
from agent_ls.ports.ledger import LedgerError, ListQuery, Snapshot
from tests.contract.ledger.make import (
    FakeClock,
    PostgresEngine,
    accepted,
    append,
    begun,
    commit,
    conversation,
    item,
    run,
)

pytestmark = pytest.mark.anyio

NEXT = MIGRATIONS[-1].version + 1


async def execute(database: PostgresEngine, statement: str) -> object:
    connection = await asyncpg.connect(database.url, server_settings={"search_path": "agent_ls"})
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


@pytest.mark.parametrize("statement", ["UPDATE event SET at = ''", "DELETE FROM event", "TRUNCATE event"])
async def test_an_event_cannot_be_changed_or_removed(
    postgres: PostgresLedger, database: PostgresEngine, statement: str
) -> None:
    await begun(postgres)
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="never"):
        await execute(database, statement)
    assert len(await postgres.read("c1", 0, 10)) == 1


async def test_four_daemons_that_start_on_an_empty_database_make_one_schema(database: PostgresEngine) -> None:
    opened: list[PostgresLedger] = []

    async def start(n: int) -> None:
        opened.append(await database.opened(f"boot-{n}"))

    async with anyio.create_task_group() as tasks:
        for n in range(4):
            tasks.start_soon(start, n)
    assert [(await ledger.status()).schema for ledger in opened] == [MIGRATIONS[-1].version] * 4
    for ledger in opened:
        await ledger.close()


async def test_a_newer_schema_is_left_as_it_is(database: PostgresEngine) -> None:
    await (await database.opened()).close()
    await execute(database, "UPDATE meta SET value = '7' WHERE key = 'schema'")
    with pytest.raises(LedgerError) as refused:
        await database.opened("boot-2")
    assert refused.value.refusal.code is Code.SCHEMA_TOO_NEW
    assert refused.value.refusal.data == {"found": 7, "known": MIGRATIONS[-1].version}
    assert await execute(database, "SELECT count(*) FROM instance WHERE boot_id = 'boot-2'") == 0


async def test_a_migration_that_fails_changes_nothing_and_can_be_run_again(database: PostgresEngine) -> None:
    first = await database.opened()
    await begun(first)
    await first.close()
    broken = Migration(NEXT, ("CREATE TABLE extra (id INTEGER)", "INSERT INTO nowhere VALUES (1)"))
    with pytest.raises(LedgerError):
        await database.opened(migrations=(*MIGRATIONS, broken))
    assert await execute(database, "SELECT to_regclass('extra')") is None
    whole = Migration(NEXT, ("CREATE TABLE extra (id INTEGER)", "INSERT INTO extra VALUES (1)"))
    for _ in range(2):
        ledger = await database.opened(migrations=(*MIGRATIONS, whole))
        assert await ledger.load("c1") == Snapshot([conversation()], 1)
        assert (await ledger.status()).schema == NEXT
        await ledger.close()
    assert await execute(database, "SELECT count(*) FROM extra") == 1


async def test_the_schema_is_not_changed_under_a_daemon_that_knows_only_the_old_one(database: PostgresEngine) -> None:
    older = await database.opened("older", host="laptop")
    newer = (*MIGRATIONS, Migration(NEXT, ("CREATE TABLE extra (id INTEGER)",)))
    with pytest.raises(LedgerError) as refused:
        await database.opened("newer", migrations=newer)
    told = refused.value.refusal
    assert (told.code, "`laptop`" in told.message, "agent-ls stop" in told.hint) == (
        Code.LEDGER_UNAVAILABLE,
        True,
        True,
    )
    assert await execute(database, "SELECT value FROM meta WHERE key = 'schema'") == str(MIGRATIONS[-1].version)
    await begun(older)
    await older.close()
    after = await database.opened("newer", migrations=newer)
    assert (await after.status()).schema == NEXT
    await after.close()


async def test_a_killed_daemon_does_not_keep_its_own_successor_from_changing_the_schema(
    database: PostgresEngine,
) -> None:
    killed = await database.opened("older", instance_id="home")
    newer = (*MIGRATIONS, Migration(NEXT, ("CREATE TABLE extra (id INTEGER)",)))
    after = await database.opened("newer", instance_id="home", migrations=newer)
    assert (await after.status()).schema == NEXT
    for ledger in (after, killed):
        await ledger.close()


async def test_every_sign_that_a_model_can_write_is_kept(postgres: PostgresLedger) -> None:
    nul = AssistantMessage(text="a\0b \\u0000")
    await begun(postgres, title="T\0 ÄRGER")
    await append(postgres, commit(item(payload=nul), receipt=accepted("k1", text="\0")))
    postgres.keep_partial("c1", "i1", "so\0far")
    assert await postgres.find("c1.i0") == item(payload=nul)
    assert (await postgres.partials("c1"))["i1"] == "so\0far"
    receipt = await postgres.receipt("k1")
    assert receipt is not None
    assert receipt.result == {"text": "\0", "seq": 2}
    found, _ = await postgres.conversations(ListQuery(query="t\0 ärg"))
    assert [(one.conversation.title, one.last_text) for one in found] == [("T\0 ÄRGER", "a\0b \\u0000")]


async def test_an_id_that_cannot_be_stored_is_refused_and_harms_no_other_commit(postgres: PostgresLedger) -> None:
    epochs = {id_: await begun(postgres, id_) for id_ in ("c1", "c2", "c3")}
    refusals: list[Code] = []

    async def bad() -> None:
        with pytest.raises(LedgerError) as refused:
            await postgres.append(commit(epoch=epochs["c2"], conversation_id="c2", receipt=accepted("k\0", "c2")))
        refusals.append(refused.value.refusal.code)

    async with anyio.create_task_group() as tasks:
        for id_ in ("c1", "c3"):
            tasks.start_soon(append, postgres, commit(run(id_), epoch=epochs[id_], conversation_id=id_))
        tasks.start_soon(bad)
    assert refusals == [Code.INVALID_PARAMS]
    assert [len(await postgres.read(id_, 0, 10)) for id_ in epochs] == [2, 1, 2]
    assert (await postgres.status()).writable is True


async def test_a_password_is_never_shown(
    postgres: PostgresLedger, database: PostgresEngine, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    url = "postgresql://me:hunter2@127.0.0.1:1/db?password=hunter3"
    with pytest.raises(LedgerError) as refused:
        await PostgresLedger.open(url, clock=FakeClock(), boot_id="b")
    shown = f"{refused.value} {refused.value.refusal} {Server(url, 1.0)} {caplog.text} {await postgres.status()}"
    assert "127.0.0.1:1/db" in shown
    assert "hunter" not in shown


async def test_a_database_that_is_not_there_is_a_sentence(database: PostgresEngine) -> None:
    with pytest.raises(LedgerError) as refused:
        await PostgresEngine(database.url.replace("@/db", "@/nodb")).opened()
    assert refused.value.refusal.code is Code.LEDGER_UNAVAILABLE
    assert "is not there" in refused.value.refusal.message
