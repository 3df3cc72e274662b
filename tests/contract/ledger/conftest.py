"""Each engine in turn, for one suite."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_ls.adapters.ledger.postgres.ledger import PostgresLedger
from agent_ls.adapters.ledger.sqlite import SqliteLedger
from agent_ls.ports.ledger import Ledger
from agent_ls.testing.postgres import PostgresServer
from tests.contract.ledger.make import Engine, MemoryEngine, PostgresEngine, SqliteEngine


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest, state_dir: Path) -> Engine:
    match request.param:
        case "memory":
            return MemoryEngine()
        case "sqlite":
            return SqliteEngine(state_dir / "ledger.db")
        case _:
            return PostgresEngine(request.getfixturevalue("postgres_server").database())


@pytest.fixture
async def ledger(engine: Engine) -> AsyncIterator[Ledger]:
    opened = await engine.opened()
    yield opened
    await opened.close()


@pytest.fixture
def path(state_dir: Path) -> Path:
    return state_dir / "ledger.db"


@pytest.fixture
async def sqlite(path: Path) -> AsyncIterator[SqliteLedger]:
    opened = SqliteEngine(path, {"busy_s": 0.2}).open()
    yield opened
    await opened.close()


@pytest.fixture
def database(postgres_server: PostgresServer) -> PostgresEngine:
    """A fresh one, to be opened as often as a test likes."""
    return PostgresEngine(postgres_server.database())


@pytest.fixture
async def postgres(database: PostgresEngine) -> AsyncIterator[PostgresLedger]:
    opened = await database.opened()
    yield opened
    await opened.close()
