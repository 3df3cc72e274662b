"""The record of daemons in a SQLite ledger: how each began and ended, also in a file of before there was one."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_ls.adapters.ledger import writes
from agent_ls.adapters.ledger.plan import prepare
from agent_ls.adapters.ledger.schema import MIGRATIONS, migrate
from agent_ls.adapters.ledger.sqlite import SqliteLedger
from agent_ls.core.effects import drive
from agent_ls.ports.instances import Instance
from agent_ls.ports.ledger import Commit, Committed, Snapshot
from tests.contract.ledger.make import SqliteEngine, append, begun, commit, conversation, run

pytestmark = pytest.mark.anyio

NOW = "2026-01-31T12:00:00.000Z"


def opened(path: Path, boot_id: str, **options: str) -> SqliteLedger:
    return SqliteEngine(path, dict(options)).open(boot_id)


async def test_each_daemon_is_on_record_with_how_it_ended(path: Path) -> None:
    first = opened(path, "boot-1", version="1.0.0", config="abc")
    await begun(first, "c1")
    await begun(first, "c2")
    await first.claim("c2", "boot-1")
    first.ends_as("handoff", ["c1.r1"])
    await first.close()
    second = opened(path, "boot-2", version="1.1.0", config="def")
    known, instances = await second.instances(10)
    await second.close()
    assert known == "boot-1"
    assert instances == [
        Instance(boot_id="boot-2", version="1.1.0", started_at=NOW, config="def"),
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


async def test_an_effect_says_how_often_it_was_taken_up_and_why(path: Path) -> None:
    first = opened(path, "boot-1")
    epoch = await begun(first)
    owed = Commit(conversation_id="c1", epoch=epoch, at=NOW, effects=[drive("c1.r1.a1", "c1")])
    assert isinstance(await first.append(owed), Committed)
    (effect,) = await first.owed()
    assert (effect.attempts, effect.last_error) == (1, None)
    await first.close()
    second = opened(path, "boot-2")
    await second.claim("c1", "boot-2")
    (effect,) = await second.owed()
    assert (effect.attempts, effect.last_error) == (2, "The daemon that worked on it ended before it was done.")
    await second.close()


def lay_schema_1(path: Path) -> None:
    """As the first version left it: one conversation, one daemon that was killed."""
    with closing(sqlite3.connect(path, isolation_level=None)) as old:
        migrate(old, path, MIGRATIONS[:1])
        old.execute("BEGIN")
        old.execute("INSERT INTO meta VALUES ('instance_id', 'boot-1'), ('last_number', 0)")
        old.execute("INSERT INTO instance VALUES ('boot-1', 'boot-1', '2026-01-01T00:00:00.000Z', NULL)")
        old.execute("INSERT INTO claim VALUES ('c1', 'boot-1', 4)")
        done = writes.append(old, prepare(commit(conversation(), epoch=4)))
        assert isinstance(done, Committed)
        old.execute("COMMIT")
