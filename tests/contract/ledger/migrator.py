"""A process that opens a ledger with one more migration, and kills itself before the statement that it is told."""

import sys
from functools import partial
from pathlib import Path

import anyio

from agent_ls.testing.crash_points import Death, watched
from tests.contract.ledger.make import PostgresEngine, SqliteEngine
from tests.contract.ledger.next_schema import with_next


async def main(place: str, statement: str, mark: str) -> None:
    engine = PostgresEngine(place) if "://" in place else SqliteEngine(Path(place))
    death = Death(f"migration.statement:{statement}", Path(mark))
    await with_next(engine, partial(watched, death=death)).opened("boot-2")


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
