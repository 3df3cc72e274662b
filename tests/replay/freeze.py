"""Makes a frozen ledger: a small history as this version writes it, for every later version to read.

    python -m tests.replay.freeze tests/replay/NAME

Run once for a version and commit both files; never run again over files that are there. `NAME.sql` is the SQLite file
as text, `NAME.jsonl` are its events as they were written.
"""

import asyncio
import sqlite3
import sys
import tempfile
from itertools import groupby
from pathlib import Path

from agent_ls.adapters.ledger import codec
from agent_ls.adapters.ledger.memory import Store
from agent_ls.adapters.ledger.schema import version_of
from agent_ls.adapters.ledger.sqlite import SqliteLedger
from agent_ls.core.conversation import Mode
from agent_ls.core.events import Event, Fact
from agent_ls.core.request import Decision
from agent_ls.ports.ledger import Commit
from tests.contract.ledger.make import FakeClock
from tests.unit.runtime.house import ID, HandTool, open_house


async def history() -> Store:
    """A run that ended, one that failed, one that waits for a person, and a message behind it."""
    store = Store()
    async with open_house(HandTool(), HandTool(name="shell"), store=store) as house:
        await house.create(Mode.ASK)
        house.model.says("I look into it.", ("shell", '{"name": "one"}'), ("shell", '{"name": "two"}'))
        house.model.says("Done, ärgerlich \u2028 \U0001f600.")
        await house.say("first")
        await house.until(lambda: len(house.actor.state.pending) == 2)
        first, second = (item.id for item in house.calls())
        await house.answer(first, Decision.ALLOW)
        await house.answer(second, Decision.DENY, reason="not that")
        await house.rest()
        house.model.says("Once more.", ("shell", '{"name": "three"}'))
        await house.say("second")
        await house.until(lambda: bool(house.actor.state.pending))
        await house.stop(f"{ID}.r2")
        await house.rest()
        house.model.says("And again.", ("shell", '{"name": "four"}'))
        await house.say("third")
        await house.until(lambda: bool(house.actor.state.pending))
    return store


async def write(store: Store, path: Path) -> list[Event]:
    """Commit by commit, as they were made."""
    ledger = SqliteLedger.open(path, clock=FakeClock(), boot_id="frozen", version="frozen", config="frozen")
    epoch = await ledger.claim(ID, "frozen")
    for at, events in groupby(store.conversations[ID].events, key=lambda event: event.at):
        facts = [Fact(event.fact, event.entity) for event in events]  # type: ignore[arg-type]
        wanted = Commit(conversation_id=ID, epoch=epoch, at=at, facts=facts)
        await ledger.append(wanted)
    await ledger.put_blob(b"a blob of old")
    written = list(await ledger.read(ID, 0, 10_000))
    await ledger.close()
    return written


async def freeze(target: Path) -> None:
    if target.with_suffix(".sql").exists():
        raise SystemExit(f"{target} is frozen already.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        written = await write(await history(), path)
        database = sqlite3.connect(path)
        dump = [*database.iterdump(), f"PRAGMA user_version = {version_of(database)};"]
        database.close()
    target.with_suffix(".sql").write_text("\n".join(dump) + "\n", encoding="utf-8")
    lines = [codec.event_json(event).decode() for event in written]
    target.with_suffix(".jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(freeze(Path(sys.argv[1])))
