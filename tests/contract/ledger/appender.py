"""A process that appends until it is killed, and prints each commit only once it is acknowledged."""

import sys
from pathlib import Path

import anyio

from tests.contract.ledger.make import OWNER, PostgresEngine, SqliteEngine, accepted, append, begun, commit, item


async def main(place: str) -> None:
    engine = PostgresEngine(place) if "://" in place else SqliteEngine(Path(place))
    ledger = await engine.opened(OWNER)

    async def write(id_: str) -> None:
        epoch = await begun(ledger, id_)
        for n in range(1_000_000):
            wanted = commit(item(id_, n), epoch=epoch, conversation_id=id_, receipt=accepted(f"{id_}-{n}", id_))
            done = await append(ledger, wanted)
            print(id_, done.seq, flush=True)

    async with anyio.create_task_group() as writers:
        for n in range(4):
            writers.start_soon(write, f"{sys.argv[2]}-{n}")


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
