"""Killed in the middle of its work, a ledger has everything that it acknowledged, and nothing by halves."""

import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from tests.contract.ledger.make import Engine, PostgresEngine, SqliteEngine

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]


@pytest.mark.timeout(120)
async def test_what_was_acknowledged_survives_kill_9(path: Path) -> None:
    await _five_rounds(str(path), SqliteEngine(path))


@pytest.mark.timeout(120)
async def test_what_a_server_acknowledged_survives_kill_9_of_the_daemon(database: PostgresEngine) -> None:
    await _five_rounds(database.url, database)


async def _five_rounds(place: str, engine: Engine) -> None:
    for round_ in range(5):
        acknowledged = _append_and_kill(place, f"round{round_}")
        ledger = await engine.opened()
        for id_, seq in acknowledged.items():
            events = await ledger.read(id_, 0, 1_000_000)
            assert [event.seq for event in events] == list(range(1, len(events) + 1))
            assert len(events) >= seq
            # One commit is one whole: a receipt for each item, and none beyond.
            assert await ledger.receipt(f"{id_}-{len(events) - 2}") is not None
            assert await ledger.receipt(f"{id_}-{len(events) - 1}") is None
            loaded = await ledger.load(id_)
            assert loaded is not None
            assert (loaded.seq, len(loaded.entities)) == (len(events), len(events))
        await ledger.close()


def _append_and_kill(place: str, prefix: str) -> dict[str, int]:
    """The newest acknowledged seq of each conversation."""
    command = [sys.executable, "-m", "tests.contract.ledger.appender", place, prefix]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        lines = list(islice(child.stdout, 200))
        child.kill()
        # The last line may be cut.
        lines += [line for line in child.stdout if line.endswith("\n")]
    acknowledged: dict[str, int] = {}
    for line in lines:
        id_, seq = line.split()
        acknowledged[id_] = int(seq)
    assert len(acknowledged) == 4
    return acknowledged
