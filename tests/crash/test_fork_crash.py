"""Kill -9 of the daemon while a fork is made: there is one, whole, whoever asks again; its parent is as it was."""

import pytest

from agent_ls.testing.crash_points import VARIABLE
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import ByHistory, UseTool, reply, say
from tests.crash.person import Person
from tests.scene import scene

pytestmark = pytest.mark.anyio

STORY = ByHistory([reply(UseTool("shell", {"command": "echo one"})), say("Done."), say("Else.")])
POINTS = (
    "claim.before:2",  # nothing is done yet
    "claim.after:2",  # its id is taken, and it is not there
    "made.before:2",
    "made.after:2",  # it is there, and nobody was told
)


def over(shown: Mirror) -> bool:
    return shown.answers == ["Done."] and all(run["status"] == "completed" for run in shown.runs.values())


@pytest.mark.parametrize(
    ("engine", "point"),
    [*(("sqlite", point) for point in POINTS), *(("postgresql", point) for point in POINTS if "made" in point)],
)
async def test_whenever_the_daemon_dies_there_is_one_fork_and_it_goes_on(
    engine: str, point: str, request: pytest.FixtureRequest
) -> None:
    config = "[ledger]\nclaim_ttl_s = 1\n"
    if engine == "postgresql":
        config += f'url = "{request.getfixturevalue("postgres_server").database()}"\n'
    async with scene(STORY, config=config) as (server, home), Person(home, attached=False) as person:
        home.env[VARIABLE] = point
        made = await person.command("agent/conversation/create", {"workspace": home.workspace.as_uri()})
        parent = made["conversation"]["id"]
        content = [{"type": "text", "text": "Go."}]
        await person.command("agent/message/send", {"conversationId": parent, "content": content})
        before = await person.see(parent, over)
        command = {"commandId": "fork", "conversationId": parent}
        first = (await person.command("agent/conversation/fork", command))["conversation"]
        again = (await person.command("agent/conversation/fork", command))["conversation"]
        assert (again["id"], again["forkedFrom"]["conversationId"]) == (first["id"], parent)
        listed = await person.command("agent/conversation/list", {})
        assert sorted(held["id"] for held in listed["conversations"]) == sorted([parent, first["id"]])
        await person.command(
            "agent/message/send", {"conversationId": first["id"], "content": [{"type": "text", "text": "Else?"}]}
        )
        child = await person.see(first["id"], lambda shown: shown.answers == ["Done.", "Else."])
        assert [call["payload"]["result"]["output"] for call in child.calls] == ["one\n"]
        after = await person.see(parent, lambda shown: shown.answers == ["Done."])
        assert after.items == before.items
        assert server.requests[-1].user_texts == ("Go.", "Else?")
