"""What is true of the SQLite file alone: modes, guards, schema, locks, a full disk, what a page costs."""

import sqlite3
import stat
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from agent_ls.adapters.ledger import reads
from agent_ls.adapters.ledger.schema import MIGRATIONS, Migration
from agent_ls.adapters.ledger.sqlite import SqliteLedger
from agent_ls.adapters.ledger.writer import Writer
from agent_ls.core.errors import Code
from agent_ls.ports.ledger import LedgerError, Snapshot
from tests.contract.ledger.make import OWNER, SqliteEngine, append, begun, commit, conversation, item, run

pytestmark = pytest.mark.anyio

NEWEST = MIGRATIONS[-1].version


def plain(path: Path) -> "closing[sqlite3.Connection]":
    return closing(sqlite3.connect(path, isolation_level=None, timeout=0))


async def test_every_file_is_for_its_owner_alone(sqlite: SqliteLedger, path: Path) -> None:
    await begun(sqlite)
    sqlite.keep_partial("c1", "i1", "text")
    await sqlite.partials("c1")
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert set(modes) >= {"ledger.db", "ledger.db-wal", "ledger.db.reserve", "partial.db"}
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("statement", ["UPDATE event SET at = ''", "DELETE FROM event"])
async def test_an_event_cannot_be_changed_or_removed(sqlite: SqliteLedger, path: Path, statement: str) -> None:
    await begun(sqlite)
    with plain(path) as other, pytest.raises(sqlite3.IntegrityError, match="never"):
        other.execute(statement)
    assert len(await sqlite.read("c1", 0, 10)) == 1


@pytest.mark.parametrize("replaced", [False, True])
async def test_nothing_is_acknowledged_once_the_file_is_gone_from_its_place(
    sqlite: SqliteLedger, path: Path, *, replaced: bool
) -> None:
    epoch = await begun(sqlite)
    assert (await sqlite.status()).writable is True
    aside = path.with_name("aside")
    path.rename(aside)
    if replaced:
        path.touch()
    with pytest.raises(LedgerError) as refused:
        await sqlite.append(commit(item(), epoch=epoch))
    assert (refused.value.refusal.code, "moved or deleted" in refused.value.refusal.message) == (
        Code.LEDGER_UNAVAILABLE,
        True,
    )
    assert (await sqlite.status()).writable is False
    aside.replace(path)
    assert (await append(sqlite, commit(item(), epoch=epoch))).seq == 2
    assert (await sqlite.status()).writable is True


async def test_a_bug_in_one_commit_leaves_the_others_of_its_group_alone(sqlite: SqliteLedger) -> None:
    epoch = await begun(sqlite)
    results: list[object] = []

    async def broken() -> None:
        with pytest.raises(sqlite3.IntegrityError):
            await sqlite._writer.run(lambda db: db.execute("UPDATE event SET seq = 0"))
        results.append("broken")

    async def fine(n: int) -> None:
        results.append((await append(sqlite, commit(item(ord_=n), epoch=epoch))).seq)

    async with anyio.create_task_group() as group:
        group.start_soon(fine, 1)
        group.start_soon(broken)
        group.start_soon(fine, 2)
    assert set(results) == {2, "broken", 3}


async def test_a_cancelled_wait_harms_nobody(sqlite: SqliteLedger) -> None:
    await begun(sqlite)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await sqlite.append(commit(item(ord_=1)))
    done = await append(sqlite, commit(item(ord_=2)))
    assert [event.seq for event in await sqlite.read("c1", 0, 10)] == list(range(1, done.seq + 1))


async def test_a_lock_of_another_program_is_waited_for_and_reads_go_on(path: Path) -> None:
    ledger = SqliteEngine(path, {"busy_s": 20.0}).open()
    await begun(ledger)
    with plain(path) as other:
        other.execute("BEGIN IMMEDIATE")
        with anyio.fail_after(20):
            async with anyio.create_task_group() as group:
                group.start_soon(append, ledger, commit(run()))
                await anyio.lowlevel.checkpoint()
                assert await ledger.load("c1") == Snapshot([conversation()], 1)
                other.execute("ROLLBACK")
    assert await ledger.find("c1.r1") == run()
    await ledger.close()


async def test_a_lock_that_stays_is_a_typed_error_and_heals(sqlite: SqliteLedger, path: Path) -> None:
    await begun(sqlite)
    with plain(path) as other:
        other.execute("BEGIN IMMEDIATE")
        with anyio.fail_after(10), pytest.raises(LedgerError) as refused:
            await sqlite.append(commit(run()))
        assert refused.value.refusal.code is Code.LEDGER_UNAVAILABLE
        assert (await sqlite.status()).writable is False
    await append(sqlite, commit(run()))
    assert (await sqlite.status()).writable is True


async def test_the_log_is_moved_into_the_database_when_nobody_writes(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rested = threading.Event()
    rest = Writer._rest

    def seen(self: Writer) -> None:
        rest(self)
        rested.set()

    monkeypatch.setattr(Writer, "_rest", seen)
    ledger = SqliteEngine(path, {"idle_s": 0.05}).open()
    await begun(ledger)
    rested.clear()
    await append(ledger, commit(item()))
    assert await anyio.to_thread.run_sync(rested.wait, 10)
    with plain(path) as other:
        busy, pages, moved = other.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    assert (busy, pages) == (0, moved)
    await ledger.close()
    assert not path.with_name("ledger.db-wal").exists()


async def test_a_newer_schema_is_left_as_it_is(path: Path) -> None:
    await SqliteEngine(path).open().close()
    with plain(path) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("PRAGMA user_version = 7")
    before = path.read_bytes()
    with pytest.raises(LedgerError) as refused:
        SqliteEngine(path).open()
    assert refused.value.refusal.code is Code.SCHEMA_TOO_NEW
    assert refused.value.refusal.data == {"found": 7, "known": NEWEST}
    assert "schema 7" in refused.value.refusal.message
    assert path.read_bytes() == before


async def test_a_migration_keeps_a_copy_and_every_fact(path: Path) -> None:
    first = SqliteEngine(path).open()
    await begun(first)
    await first.close()
    next_ = Migration(NEWEST + 1, ("CREATE TABLE extra (id INTEGER)", "INSERT INTO extra VALUES (1)"))
    ledger = SqliteEngine(path, {"migrations": (*MIGRATIONS, next_)}).open()
    assert await ledger.load("c1") == Snapshot([conversation()], 1)
    assert (await ledger.status()).schema == NEWEST + 1
    await ledger.close()
    copy = path.with_name(f"ledger.db.schema{NEWEST}.backup")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with plain(copy) as old:
        assert old.execute("PRAGMA user_version").fetchone() == (NEWEST,)
        assert old.execute("SELECT count(*) FROM event").fetchone() == (1,)


async def test_a_migration_that_fails_changes_nothing_and_can_be_run_again(path: Path) -> None:
    await SqliteEngine(path).open().close()
    broken = Migration(NEWEST + 1, ("CREATE TABLE extra (id INTEGER)", "INSERT INTO nowhere VALUES (1)"))
    with pytest.raises(LedgerError):
        SqliteEngine(path, {"migrations": (*MIGRATIONS, broken)}).open()
    with plain(path) as other:
        assert other.execute("PRAGMA user_version").fetchone() == (NEWEST,)
        assert other.execute("SELECT count(*) FROM sqlite_master WHERE name = 'extra'").fetchone() == (0,)
    whole = Migration(NEWEST + 1, broken.statements[:1])
    ledger = SqliteEngine(path, {"migrations": (*MIGRATIONS, whole)}).open()
    assert (await ledger.status()).schema == NEWEST + 1
    await ledger.close()


async def test_a_file_that_is_no_ledger_is_said_to_be_none(path: Path) -> None:
    path.write_bytes(b"this is not a database, it is a shopping list" * 100)
    with pytest.raises(LedgerError) as refused:
        SqliteEngine(path).open()
    assert refused.value.refusal.code is Code.LEDGER_UNAVAILABLE
    assert "is not a ledger" in refused.value.refusal.message


async def test_damaged_partials_are_thrown_away(path: Path) -> None:
    path.with_name("partial.db").write_bytes(b"nonsense" * 1000)
    ledger = SqliteEngine(path).open()
    ledger.keep_partial("c1", "i1", "text")
    assert await ledger.partials("c1") == {"i1": "text"}
    await ledger.close()


async def test_a_second_daemon_starts_from_the_epochs_of_the_first(path: Path) -> None:
    first = SqliteEngine(path).open()
    assert [await first.claim("c1", OWNER), await first.claim("c1", OWNER)] == [1, 2]
    await first.close()
    second = SqliteEngine(path).open("boot-2")
    assert await second.claim("c1", "boot-2") == 3
    await second.close()


async def test_opening_20000_events_costs_what_200_do(sqlite: SqliteLedger, path: Path) -> None:
    for id_, groups in (("short", 1), ("long", 100)):
        epoch = await begun(sqlite, id_)
        for group in range(groups):
            items = [item(id_, group * 200 + n) for n in range(200)]
            await append(sqlite, commit(*items, epoch=epoch, conversation_id=id_))
    for read in (
        lambda db, id_: reads.page(db, id_, before=None, limit=50),
        lambda db, id_: reads.page(db, id_, before="100", limit=50),
        lambda db, id_: reads.events(db, id_, after=100, limit=50),
        reads.head,
        reads.summary,
        reads.find,
    ):
        assert _cost(path, read, "long") <= _cost(path, read, "short")


def _cost(path: Path, read: Callable[[sqlite3.Connection, str], object], id_: str) -> int:
    """Instructions of SQLite's machine, which unlike time are the same each run."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    with plain(path) as connection:
        connection.set_progress_handler(count, 1)
        assert read(connection, id_) is not None
    return steps
