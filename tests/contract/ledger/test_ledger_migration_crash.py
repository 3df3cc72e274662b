"""Killed in the middle of a migration, a ledger is as it was before; whoever comes next finishes it (case B58)."""

import signal
import sys
from pathlib import Path

import anyio
import pytest

from agent_ls.ports.ledger import ListQuery
from tests.contract.ledger.make import PostgresEngine, SqliteEngine, begun
from tests.contract.ledger.next_schema import STATEMENTS, with_next

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
CONVERSATIONS = ["c1", "c2", "c3"]


async def test_killed_before_any_statement_of_a_migration_a_file_is_migrated_by_the_next(
    path: Path, state_dir: Path
) -> None:
    await _killed_again_and_again(SqliteEngine(path), str(path), state_dir)
    assert not list(path.parent.glob("*.part"))


async def test_killed_before_any_statement_of_a_migration_a_server_is_migrated_by_the_next(
    database: PostgresEngine, state_dir: Path
) -> None:
    await _killed_again_and_again(database, database.url, state_dir)


async def _killed_again_and_again(engine: SqliteEngine | PostgresEngine, place: str, state_dir: Path) -> None:
    first = await engine.opened()
    for id_ in CONVERSATIONS:
        await begun(first, id_)
    schema = (await first.status()).schema
    await first.close()
    for statement in range(1, len(STATEMENTS) + 1):
        mark = state_dir / f"killed-{statement}"
        command = [sys.executable, "-m", "tests.contract.ledger.migrator", place, str(statement), str(mark)]
        with anyio.fail_after(30):
            assert (await anyio.run_process(command, cwd=ROOT, check=False)).returncode == -signal.SIGKILL
        # One that knows nothing of the newer schema still finds its own.
        old = await engine.opened(f"old-{statement}")
        assert (await old.status()).schema == schema
        await old.close()
    ledger = await with_next(engine).opened("boot-3")
    assert (await ledger.status()).schema == schema + 1
    found, _ = await ledger.conversations(ListQuery())
    assert sorted(each.conversation.id for each in found) == CONVERSATIONS
    await ledger.close()
