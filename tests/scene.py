"""The stage of an acceptance test: a scripted model server and a home whose daemon uses it.

Owns that no request of ours was one that a real server would refuse, and that a failing test shows the daemon's log.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from agent_ls.testing.home import Home, home_of
from agent_ls.testing.model_scenario import Scenario, use
from agent_ls.testing.model_server import DEFAULT_MODEL, ModelServer, serve_model

# Of a.txt, which holds "one" and "two" and was read before.
EDIT = use("edit", path="a.txt", edits=[{"old": "two", "new": "2"}])


@asynccontextmanager
async def scene(
    scenario: Scenario,
    *,
    config: str = "",
    kind: str = "openai-compatible",
    models: Sequence[str] = (DEFAULT_MODEL,),
) -> AsyncIterator[tuple[ModelServer, Home]]:
    """`kind`: the wire between daemon and server."""
    async with (
        serve_model(scenario, models=models) as server,
        home_of(server.base_url, kind=kind, config=config) as home,
    ):
        try:
            yield server, home
        except BaseException:
            print(home.log)
            raise
        assert server.refused == []


def lines(path: Path) -> list[str]:
    """Of a file that may not be there yet."""
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
