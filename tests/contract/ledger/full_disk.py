"""A process on a disk of its own that fills it, and prints what a ledger there did."""

import json
import sys
from pathlib import Path

import anyio

from agent_ls.core.items import AssistantMessage
from agent_ls.ports.ledger import Commit, Ledger, LedgerError
from tests.contract.ledger.make import SqliteEngine, accepted, append, begun, commit, item

TEXT = AssistantMessage(text="x" * 50_000)


async def main(disk: Path) -> None:
    await anyio.run_process(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk])
    ledger = SqliteEngine(disk / "ledger.db").open()
    await begun(ledger)
    commands = 0
    while (refused := await _refused(ledger, _command(commands))) is None:
        commands += 1
    result_refused = await _refused(ledger, commit(item(ord_=9000, payload=TEXT)))
    still_refused = await _refused(ledger, _command(commands))
    await ledger.close()
    ledger = SqliteEngine(disk / "ledger.db").open()
    kept = len(await ledger.read("c1", 0, 10_000))
    await anyio.run_process(["mount", "-o", "remount,size=20m", disk])
    epoch = await ledger.claim("c1", "boot-2")
    healed = await _refused(ledger, _command(commands, epoch))
    await ledger.close()
    said = [refused, result_refused, still_refused, healed]
    print(json.dumps({"said": said, "lost": commands + 2 - kept}))


def _command(n: int, epoch: int = 1) -> Commit:
    return commit(item(ord_=n, payload=TEXT), epoch=epoch, receipt=accepted(f"k{n}"))


async def _refused(ledger: Ledger, wanted: Commit) -> str | None:
    try:
        await append(ledger, wanted)
    except LedgerError as error:
        return str(error.refusal.code)
    return None


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]))
