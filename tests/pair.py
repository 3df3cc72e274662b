"""The stage of tests with two daemons: two homes, one ledger on a PostgreSQL server, one scripted model.

Owns that a failing test shows the logs of both, and that no request of ours was one that a real server would refuse.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from agent_ls.testing.editor import Editor
from agent_ls.testing.home import Home, home_of
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import Gate, Scenario
from agent_ls.testing.model_server import ModelServer, serve_model


@asynccontextmanager
async def two(
    scenario: Scenario, url: str, *, ttl_s: float = 30, more: tuple[str, str] = ("", "")
) -> AsyncIterator[tuple[ModelServer, Home, Home]]:
    """Two homes on one ledger. The first one's workspace is where both work."""
    config = f'[ledger]\nurl = "{url}"\nclaim_ttl_s = {ttl_s}\n'
    async with (
        serve_model(scenario) as server,
        home_of(server.base_url, config=config + more[0]) as one,
        home_of(server.base_url, config=config + more[1]) as other,
    ):
        try:
            yield server, one, other
        except BaseException:
            print(f"--- one\n{one.log}\n--- other\n{other.log}")
            raise
        assert server.refused == []


async def left_in_mid_answer(one: Home, watcher: Editor, gate: Gate) -> tuple[Mirror, str]:
    """A run whose daemon is killed while the model waits at the gate: how the other daemon's window sees it, its id."""
    async with one.editor(name="a") as editor:
        held = await editor.create(one.workspace)
        run_id = await editor.send(held, "Say hello.")
        await gate.reached()
        seen = await watcher.attach(held.id)
        await one.kill9()
    return seen, run_id


async def in_database(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
