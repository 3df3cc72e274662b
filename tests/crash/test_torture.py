"""A little of the torture in every test run; `make torture ROUNDS=1000` for more."""

import pytest

from agent_ls.testing.postgres import PostgresServer
from tests.crash.torture import on, torture

SEED = 20_260_131


@pytest.mark.anyio
@pytest.mark.timeout(150)
async def test_killed_at_random_times_under_busy_windows_nothing_is_lost_or_done_twice() -> None:
    await torture(15, SEED)


@pytest.mark.anyio
@pytest.mark.timeout(100)
async def test_the_same_with_the_ledger_on_a_server(postgres_server: PostgresServer) -> None:
    await torture(5, SEED, config=lambda: on(postgres_server))
