"""`python -m benchmarks.ledger`: commits of the ledger beside the bare driver doing the same writes, in one run.

Owns what is committed, how many conversations do it at once, and the floor: the statements that the commit comes to,
one after the other in a transaction, rows made beforehand, nothing checked but the claim. Rounds of both alternate, so
that a busy machine is unfair to neither.
"""

import argparse
import asyncio
import json
import sqlite3
import statistics
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import asyncpg

from agent_ls.adapters.host.system import SystemClock
from agent_ls.adapters.ledger.postgres.ledger import PostgresLedger
from agent_ls.adapters.ledger.sqlite import SqliteLedger
from agent_ls.core.conversation import Conversation, Mode
from agent_ls.core.events import ConversationFact, Fact, ItemFact
from agent_ls.core.items import AssistantMessage, Item, ItemKind, ItemStatus
from agent_ls.ports.ledger import Commit, Ledger, Receipt
from agent_ls.testing.postgres import serve_postgres

CONCURRENT = (1, 8, 64)
ROUNDS = 5
TEXT = "A sentence of an answer, as models like to give them. " * 12
AT = "2026-01-31T12:00:00.000Z"
# More connections than this help nobody on a small machine.
LINKS = 16

Write = Callable[[str, int], Awaitable[None]]


@dataclass
class Times:
    latencies: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)

    def shown(self) -> str:
        ordered = sorted(self.latencies)
        p50, p95 = (ordered[int(len(ordered) * share)] * 1000 for share in (0.5, 0.95))
        return f"{p50:7.2f} {p95:8.2f} {statistics.median(self.rates):9.0f}"


def conversation(id_: str) -> Conversation:
    return Conversation(
        id=id_, workspace="file:///w", title="A title", provider="p", model="m", mode=Mode.ASK,
        created_at=AT, updated_at=AT,
    )  # fmt: skip


def item(id_: str, n: int) -> Item:
    return Item(
        id=f"{id_}.i{n}", conversation_id=id_, run_id=f"{id_}.r1", ord=n, kind=ItemKind.ASSISTANT_MESSAGE,
        status=ItemStatus.COMPLETED, payload=AssistantMessage(text=TEXT), created_at=AT,
    )  # fmt: skip


async def ours(ledger: Ledger, ids: list[str]) -> Write:
    epochs: dict[str, int] = {}
    for id_ in ids:
        epoch = await ledger.claim(id_, "bench")
        assert isinstance(epoch, int)
        epochs[id_] = epoch
        first = [Fact(ConversationFact.CREATED, conversation(id_))]
        await ledger.append(Commit(conversation_id=id_, epoch=epoch, at=AT, facts=first))

    async def write(id_: str, n: int) -> None:
        facts = [Fact(ItemFact.ADDED, item(id_, n)), Fact(ItemFact.UPDATED, item(id_, n))]
        receipt = Receipt(f"{id_}-{n}", id_, result={"itemId": f"{id_}.i{n}"})
        done = await ledger.append(Commit(conversation_id=id_, epoch=epochs[id_], at=AT, facts=facts, receipt=receipt))
        assert getattr(done, "seq", 0) == 2 * n + 3

    return write


ENTITY = json.dumps({"id": "c.i0", "payload": {"text": TEXT}, "createdAt": AT, "kind": "assistant_message"})


async def bare_postgres(pool: Any, ids: list[str]) -> Write:
    for id_ in ids:
        await pool.execute("INSERT INTO conversation (conversation_id, owner, epoch, seq) VALUES ($1, 'b', 1, 1)", id_)
    entity = ENTITY.encode()

    async def write(id_: str, n: int) -> None:
        seq = 2 * n + 2
        async with pool.acquire() as db, db.transaction():
            await db.fetchrow("SELECT owner, epoch, seq FROM conversation WHERE conversation_id = $1 FOR UPDATE", id_)
            rows = [
                (id_, seq + k, "item", "added", f"{id_}.i{n}", f"{id_}.r1", f"{id_}-{n}", 1, AT, entity) for k in (0, 1)
            ]
            await db.executemany("INSERT INTO event VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)", rows)
            await db.execute(
                "INSERT INTO current VALUES ($1, $2, 'item', $3, NULL, $4)"
                " ON CONFLICT (entity_id) DO UPDATE SET seq = excluded.seq",
                f"{id_}.i{n}", id_, n, seq + 1,
            )  # fmt: skip
            await db.execute(
                "UPDATE conversation SET seq = $2, updated = $3, text_ord = $4, text = $5 WHERE conversation_id = $1",
                id_, seq + 1, AT, n, TEXT[:200].encode(),
            )  # fmt: skip
            await db.execute("INSERT INTO receipt VALUES ($1, $2, 'accepted', $3)", f"{id_}-{n}", id_, "{}")

    return write


async def bare_sqlite(path: Path, ids: list[str]) -> Write:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA wal_autocheckpoint = 0")
    for id_ in ids:
        db.execute("INSERT INTO conversation VALUES (?, 1, ?, NULL, NULL, 0, -1, '')", (id_, AT))

    async def write(id_: str, n: int) -> None:
        seq = 2 * n + 2
        db.execute("BEGIN IMMEDIATE")
        db.execute("SELECT owner, epoch FROM claim WHERE conversation_id = ?", (id_,)).fetchone()
        rows = [
            (id_, seq + k, "item", "added", f"{id_}.i{n}", f"{id_}.r1", f"{id_}-{n}", 1, AT, ENTITY) for k in (0, 1)
        ]
        db.executemany("INSERT INTO event VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        db.execute(
            "INSERT INTO current VALUES (?, ?, 'item', ?, NULL, ?)"
            " ON CONFLICT (entity_id) DO UPDATE SET event = excluded.event",
            (f"{id_}.i{n}", id_, n, seq),
        )
        db.execute(
            "UPDATE conversation SET seq = ?, updated = ?, text_ord = ?, text = ? WHERE conversation_id = ?",
            (seq + 1, AT, n, TEXT[:200], id_),
        )
        db.execute("INSERT INTO receipt VALUES (?, ?, 'accepted', '{}')", (f"{id_}-{n}", id_))
        db.execute("COMMIT")
        await asyncio.sleep(0)  # noqa: TID251 - one thread: the next conversation has its turn

    return write


async def timed(write: Write, ids: list[str], *, begin: int, count: int, times: Times) -> None:
    async def one(id_: str) -> None:
        for n in range(begin, begin + count):
            start = perf_counter()
            await write(id_, n)
            times.latencies.append(perf_counter() - start)

    start = perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for id_ in ids:
            tasks.create_task(one(id_))
    times.rates.append(len(ids) * count / (perf_counter() - start))


async def compared(engine: str, mine: Write, bare: Write, *, ids: dict[str, list[str]], count: int) -> None:
    times = {"ours": Times(), "bare": Times()}
    for turn in range(ROUNDS + 1):
        for name, write in (("ours", mine), ("bare", bare)):
            # The first round only warms up.
            kept = times[name] if turn else Times()
            await timed(write, ids[name], begin=turn * count, count=count, times=kept)
    for name, found in times.items():
        print(f"{engine:<11} {len(ids[name]):>3} {name:<5} {found.shown()}", flush=True)


async def measure(postgres_url: str, folder: Path, commits: int) -> None:
    clock = SystemClock()
    print(f"{'engine':<11} {'n':>3} {'':<5} {'p50 ms':>7} {'p95 ms':>8} {'commits/s':>9}")
    async with AsyncExitStack() as closing:
        sqlite = SqliteLedger.open(folder / "ledger.db", clock=clock, boot_id="bench")
        closing.push_async_callback(sqlite.close)
        await SqliteLedger.open(folder / "bare.db", clock=clock, boot_id="bench").close()
        postgres = await PostgresLedger.open(postgres_url, clock=clock, boot_id="bench")
        closing.push_async_callback(postgres.close)
        settings = {"search_path": "agent_ls", "jit": "off"}
        pool = await asyncpg.create_pool(postgres_url, min_size=LINKS, max_size=LINKS, server_settings=settings)
        closing.push_async_callback(pool.close)
        for n in CONCURRENT:
            ids = {who: [f"{who}{n}-{k}" for k in range(n)] for who in ("ours", "bare")}
            count = max(5, commits // n)
            pairs = {
                "sqlite": (await ours(sqlite, ids["ours"]), await bare_sqlite(folder / "bare.db", ids["bare"])),
                "postgresql": (await ours(postgres, ids["ours"]), await bare_postgres(pool, ids["bare"])),
            }
            for engine, (mine, bare) in pairs.items():
                await compared(engine, mine, bare, ids=ids, count=count)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ledger", description=__doc__.split("\n")[0])
    parser.add_argument("--commits", type=int, default=400, help="in each round")
    options = parser.parse_args()
    with serve_postgres() as server, tempfile.TemporaryDirectory(prefix="als-b-", dir="/tmp") as folder:
        asyncio.run(measure(server.database(), Path(folder), options.commits))


if __name__ == "__main__":
    main()
