"""A ledger that can only be read for a while: commands are refused with a reason, reads go on, and it heals."""

from collections.abc import Awaitable, Callable

import asyncpg
import pytest

from agent_ls.adapters.ledger.sqlite import SqliteLedger
from agent_ls.core.errors import Code
from agent_ls.ports.ledger import Ledger, LedgerError
from tests.contract.ledger.make import PostgresEngine, accepted, append, begun, commit, item

pytestmark = pytest.mark.anyio


async def refused_then_healed(ledger: Ledger, lock: Callable[[bool], Awaitable[None]]) -> None:
    await begun(ledger)
    kept = await append(ledger, commit(item(), receipt=accepted("k1")))
    await lock(True)
    wanted = commit(item(ord_=1), receipt=accepted("k2"))
    for _ in range(2):
        with pytest.raises(LedgerError) as refused:
            await ledger.append(wanted)
        told = refused.value.refusal
        assert (told.code, told.retryable, told.hint != "") == (Code.LEDGER_UNAVAILABLE, True, True)
    assert await ledger.read("c1", 1, 10) == list(kept.events)
    assert (await ledger.receipt("k1"), await ledger.receipt("k2")) == (kept.receipt, None)
    status = await ledger.status()
    assert (status.writable, status.error is None) == (False, False)
    await lock(False)
    assert (await append(ledger, wanted)).seq == 3
    assert (await ledger.status()).writable


async def test_a_file_that_can_only_be_read(sqlite: SqliteLedger) -> None:
    async def lock(on: bool) -> None:  # noqa: FBT001
        # On the writer's own connection, where alone it holds.
        sqlite._writer._connection.execute(f"PRAGMA query_only = {on:d}")

    await refused_then_healed(sqlite, lock)


async def test_a_server_that_can_only_be_read(database: PostgresEngine) -> None:
    ledger = await database.opened()

    async def lock(on: bool) -> None:  # noqa: FBT001
        """As when another server has become the primary one: what was connected is cut off."""
        connection = await asyncpg.connect(database.url, server_settings={"default_transaction_read_only": "off"})
        name = await connection.fetchval("SELECT current_database()")
        await connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = {'on' if on else 'off'}")
        await connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        await connection.close()

    await refused_then_healed(ledger, lock)
    await ledger.close()
