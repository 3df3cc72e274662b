"""A full disk refuses what is new, keeps what ends work that has begun, and heals when there is space."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_ls.adapters.ledger.files import Reserve
from agent_ls.adapters.ledger.sqlite import SqliteLedger
from agent_ls.core.call import CallFact
from agent_ls.core.errors import Code
from agent_ls.core.events import Fact
from agent_ls.core.items import AssistantMessage
from agent_ls.ports.ledger import Commit, Committed, LedgerError
from tests.contract.ledger.make import accepted, append, at, begun, commit, item

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
BIG = AssistantMessage(text="x" * 100_000)


async def test_a_full_disk_refuses_a_command_and_keeps_a_result(
    sqlite: SqliteLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begun(sqlite)
    _space_comes_with_the_reserve(sqlite, monkeypatch)
    await _limit(sqlite, 0)
    with pytest.raises(LedgerError) as refused:
        await sqlite.append(commit(item(ord_=1, payload=BIG), receipt=accepted("k1")))
    assert refused.value.refusal.code is Code.DISK_FULL
    assert await sqlite.receipt("k1") is None
    await _limit(sqlite, 0)
    # Nothing new is begun either, person or not.
    started = Fact(CallFact.STARTED, item(ord_=2, payload=BIG))
    with pytest.raises(LedgerError):
        await sqlite.append(Commit(conversation_id="c1", epoch=1, at=at(1), facts=[started]))
    await _limit(sqlite, 0)
    done = await sqlite.append(commit(item(ord_=3, payload=BIG)))
    assert isinstance(done, Committed)
    assert await sqlite.find("c1.i3") == item(ord_=3, payload=BIG)


async def test_it_heals_when_there_is_space_again(sqlite: SqliteLedger) -> None:
    await begun(sqlite)
    await _limit(sqlite, 0)
    with pytest.raises(LedgerError):
        await sqlite.append(commit(item(ord_=1, payload=BIG), receipt=accepted("k1")))
    status = await sqlite.status()
    assert (status.writable, status.details["diskFull"], status.details["reserveHeld"]) == (False, True, False)
    await _limit(sqlite, 1_000_000)
    done = await append(sqlite, commit(item(ord_=1, payload=BIG), receipt=accepted("k1")))
    assert done.seq == 2
    status = await sqlite.status()
    assert (status.writable, status.details["diskFull"], status.details["reserveHeld"]) == (True, False, True)


async def test_commands_stay_refused_while_the_reserve_cannot_be_held_again(
    sqlite: SqliteLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begun(sqlite)
    await _limit(sqlite, 0)
    with pytest.raises(LedgerError):
        await sqlite.append(commit(item(ord_=1, payload=BIG), receipt=accepted("k1")))
    await _limit(sqlite, 1_000_000)
    # There is some space, but less than the reserve: it is for results alone.
    monkeypatch.setattr(Reserve, "take", lambda _: False)
    with pytest.raises(LedgerError):
        await sqlite.append(commit(item(ord_=1), receipt=accepted("k1")))
    await append(sqlite, commit(item(ord_=2)))
    monkeypatch.undo()
    await append(sqlite, commit(item(ord_=1), receipt=accepted("k1")))


def test_a_real_full_disk_loses_nothing_and_heals(state_dir: Path) -> None:
    own_mounts = ["unshare", "--user", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None or subprocess.run([*own_mounts, "true"], check=False).returncode:
        pytest.skip("a disk of its own needs user namespaces")
    child = [sys.executable, "-m", "tests.contract.ledger.full_disk", str(state_dir)]
    done = subprocess.run([*own_mounts, *child], capture_output=True, text=True, cwd=ROOT, timeout=50, check=True)
    assert json.loads(done.stdout) == {"said": ["disk_full", None, "disk_full", None], "lost": 0}


async def _limit(ledger: SqliteLedger, pages: int) -> None:
    """At most so many pages for the database; 0 for not one more than it has."""

    # On the writer's own connection, where alone the limit holds.
    def limit() -> object:
        connection = ledger._writer._connection
        return connection.execute(f"PRAGMA max_page_count = {max(1, pages)}").fetchone()

    limit()


def _space_comes_with_the_reserve(ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Giving up the reserve makes room for a result, as it does on a real disk."""
    release: Callable[[Reserve], None] = Reserve.release

    def freed(reserve: Reserve) -> None:
        release(reserve)
        ledger._writer._connection.execute("PRAGMA max_page_count = 1000000").fetchone()

    monkeypatch.setattr(Reserve, "release", freed)
