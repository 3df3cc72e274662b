"""How often a run was begun again is seen in `status`; the first two times it begins at once, then it waits."""

from typing import Any

import pytest

from agent_ls.testing.home import Home
from agent_ls.testing.model_scenario import ByHistory, Gate, Say, Wait, reply
from agent_ls.testing.model_server import ModelServer
from tests.scene import scene

pytestmark = pytest.mark.anyio


async def test_each_death_of_which_nothing_came_counts_and_a_restart_does_not() -> None:
    gate = Gate()
    async with scene(ByHistory([reply(Wait(gate), Say("Done."))])) as (server, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Go.")
            await asked(server, 1)
        for deaths in (1, 2):
            await home.kill9()
            await home.start()
            await asked(server, 1 + deaths)
            (effect,) = await owed(home)
            assert {**effect, "lastError": ""} == {
                "id": f"{run_id}.a1",
                "type": "attempt.drive",
                "class": "process",
                "attempts": 1 + deaths,
                "availableAt": None,
                "lastError": "",
            }
        shown = await home.run("status")
        assert f"{run_id}.a1, 3 times: The daemon that worked on it ended before it was done." in shown.stdout
        assert (await home.run("restart", "--deadline", "0")).returncode == 0
        await asked(server, 4)
        (effect,) = await owed(home)
        assert (effect["attempts"], effect["lastError"]) == (1, None)
        gate.open()
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            await editor.until_ended(again, run_id)
            assert again.answers == ["Done."]
        assert await owed(home) == []


async def asked(server: ModelServer, times: int) -> None:
    await server.until(lambda: len(server.requests) == times)


async def owed(home: Home) -> list[dict[str, Any]]:
    async with home.editor() as editor:
        found: list[dict[str, Any]] = (await editor.request("agent/status", {}))["effects"]["owed"]
        return found
