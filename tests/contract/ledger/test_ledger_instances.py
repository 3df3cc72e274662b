"""The record of daemons: how each began and ended, also in a file of before there was one."""

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agent_ls.adapters.ledger import codec
from agent_ls.adapters.ledger.schema import MIGRATIONS, migrate
from agent_ls.adapters.ledger.sqlite import SqliteLedger
from agent_ls.ports.instances import Instance, Instances
from agent_ls.ports.ledger import Snapshot
from tests.contract.ledger.make import PostgresEngine, SqliteEngine, append, begun, commit, conversation, run

pytestmark = pytest.mark.anyio

NOW = "2026-01-31T12:00:00.000Z"


Record = Callable[..., Awaitable[Any]]


@pytest.fixture(params=["sqlite", "postgresql"])
def record(request: pytest.FixtureRequest, path: Path) -> Record:
    """Opens the ledger of one state directory, on each engine that keeps a record."""
    if request.param == "sqlite":

        async def open_file(boot_id: str, **options: str) -> SqliteLedger:
            return opened(path, boot_id, **options)

        return open_file
    database: PostgresEngine = request.getfixturevalue("database")
    return partial(database.opened, instance_id="boot-1")


def opened(path: Path, boot_id: str, **options: str) -> SqliteLedger:
    return SqliteEngine(path, dict(options)).open(boot_id)


async def test_each_daemon_is_on_record_with_how_it_ended(record: Record) -> None:
    first = await record("boot-1", version="1.0.0", config="abc")
    assert isinstance(first, Instances)
    await begun(first, "c1")
    await begun(first, "c2")
    await first.claim("c2", "boot-1")
    first.ends_as("handoff", ["c1.r1"])
    await first.close()
    killed = await record("boot-2", version="1.0.0")
    second = await record("boot-3", version="1.1.0", config="def")
    known, instances = await second.instances(10)
    assert len((await second.instances(1))[1]) == 1
    await second.close()
    await killed.close()
    assert known == "boot-1"
    assert instances == [
        Instance(boot_id="boot-3", version="1.1.0", started_at=NOW, config="def"),
        Instance(boot_id="boot-2", version="1.0.0", started_at=NOW),
        Instance(
            boot_id="boot-1", version="1.0.0", started_at=NOW, config="abc", ended_at=NOW, mode="handoff",
            in_flight=("c1.r1",), epochs=(1, 2),
        ),
    ]  # fmt: skip


async def test_a_file_of_schema_1_keeps_its_facts_and_its_daemons(path: Path) -> None:
    lay_schema_1(path)
    ledger = opened(path, "boot-2", version="1.1.0")
    known, instances = await ledger.instances(10)
    assert known == "boot-1"
    assert instances == [
        Instance(boot_id="boot-2", version="1.1.0", started_at=NOW),
        Instance(boot_id="boot-1", version="", started_at="2026-01-01T00:00:00.000Z"),
    ]
    assert await ledger.load("c1") == Snapshot([conversation()], 1)
    assert await ledger.claim("c1", "boot-2") == 5
    assert (await append(ledger, commit(run(), epoch=5))).seq == 2
    await ledger.close()
    with closing(sqlite3.connect(path.with_name("ledger.db.schema1.backup"))) as old:
        assert old.execute("PRAGMA user_version").fetchone() == (1,)
        assert old.execute("SELECT boot_id FROM instance").fetchall() == [("boot-1",)]


def lay_schema_1(path: Path) -> None:
    """As the first version left it: one conversation, one daemon that was killed."""
    with closing(sqlite3.connect(path, isolation_level=None)) as old:
        migrate(old, path, MIGRATIONS[:1])
        old.execute("BEGIN")
        old.execute("INSERT INTO meta VALUES ('instance_id', 'boot-1'), ('last_number', 0)")
        old.execute("INSERT INTO instance VALUES ('boot-1', 'boot-1', '2026-01-01T00:00:00.000Z', NULL)")
        old.execute("INSERT INTO claim VALUES ('c1', 'boot-1', 4)")
        of = conversation()
        created = ("c1", NOW, codec.encode(of).decode())
        old.execute(
            "INSERT INTO event VALUES (1, ?1, 1, 'conversation', 'created', ?1, NULL, NULL, 4, ?2, ?3)", created
        )
        old.execute("INSERT INTO current VALUES ('c1', 'c1', 'conversation', 0, NULL, 1)")
        listed = ("c1", NOW, of.workspace, of.title)
        old.execute("INSERT INTO conversation VALUES (?, 1, ?, ?, ?, 0, -1, '')", listed)
        old.execute("COMMIT")
