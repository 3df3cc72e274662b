"""Each engine in turn, for one suite."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_ls.adapters.ledger.sqlite import SqliteLedger
from agent_ls.ports.ledger import Ledger
from tests.contract.ledger.make import Engine, MemoryEngine, SqliteEngine


@pytest.fixture(params=["memory", "sqlite"])
def engine(request: pytest.FixtureRequest, state_dir: Path) -> Engine:
    return MemoryEngine() if request.param == "memory" else SqliteEngine(state_dir / "ledger.db")


@pytest.fixture
async def ledger(engine: Engine) -> AsyncIterator[Ledger]:
    opened = engine.open()
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
