"""What another daemon on the same ledger works on is stopped from here: a subagent with its parent, a shell by name."""

import pytest

from agent_ls.testing.editor import Refused
from agent_ls.testing.model_scenario import (
    ByConversation,
    ByHistory,
    Gate,
    InOrder,
    Say,
    UseTool,
    Wait,
    reply,
    say,
    use,
)
from agent_ls.testing.postgres import PostgresServer
from tests.pair import in_database, two

pytestmark = pytest.mark.anyio

TASK = UseTool("task", {"description": "Count", "prompt": "Count the files."})


@pytest.fixture
def url(postgres_server: PostgresServer) -> str:
    return postgres_server.database()


async def test_stopping_a_run_reaches_a_subagent_that_another_daemon_has_taken_over(url: str) -> None:
    gate = Gate()
    talk = ByConversation(
        {
            "Count": ByHistory([reply(Say("One, "), Wait(gate))]),
            "Go": ByHistory([reply(TASK), say("Done.")]),
        }
    )
    async with (
        two(talk, url, ttl_s=2) as (_, one, other),
        one.editor(one.workspace, name="a") as a,
        other.editor(one.workspace, name="b") as b,
    ):
        conversation = await a.create(one.workspace)
        run_id = await a.send(conversation, "Go.")
        await gate.reached()
        await a.wait_for(lambda: conversation.of_kind("subagent"))
        (shown,) = conversation.of_kind("subagent")
        child_id = shown["payload"]["conversationId"]
        child = await b.attach(child_id)
        boot = b.hello["bootId"]
        # As after a lease that has ended: the other daemon has it from now on.
        taken = f"owner = '{boot}', epoch = epoch + 1 WHERE conversation_id = '{child_id}'"
        await in_database(url, f"UPDATE agent_ls.conversation SET {taken}")
        theirs = {"commandId": "theirs", "conversationId": child_id, "title": "Theirs"}
        await b.request("agent/conversation/update", theirs)
        await a.interrupt(run_id)
        await a.until_ended(conversation, run_id, "interrupted")
        await b.until_ended(child, f"{child_id}.r1", "interrupted")
        gate.open()


async def test_a_background_shell_is_shown_and_ended_from_the_other_daemon_once(url: str) -> None:
    serve = use("shell", command="echo serving; cat gate", background=True)
    async with (
        two(InOrder([serve, say("It serves."), say("I see.")]), url) as (server, one, other),
        one.editor(one.workspace, name="a") as a,
        other.editor(one.workspace, name="b") as b,
    ):
        one.gate("gate")
        conversation = await a.create(one.workspace, mode="auto", allowAuto=True)
        await a.until_ended(conversation, await a.send(conversation, "Serve."))
        of = {"conversationId": conversation.id}
        (here,) = (await a.request("agent/shell/list", of))["shells"]
        (there,) = (await b.request("agent/shell/list", of))["shells"]
        assert {**there, "pid": here["pid"]} == here
        stop = {"commandId": "stop it", "shellId": there["id"]}
        assert await b.request("agent/shell/stop", stop) == {}
        await a.wait_for(lambda: conversation.of_kind("notice"))
        (notice,) = conversation.of_kind("notice")
        assert "was ended: by " in notice["payload"]["message"]
        assert await b.request("agent/shell/stop", stop) == {}
        assert (await b.request("agent/shell/list", of))["shells"] == []
        with pytest.raises(Refused) as refused:
            await b.request("agent/shell/stop", {**stop, "commandId": "again"})
        assert refused.value.code == "not_found"
        await a.until_ended(conversation, await a.send(conversation, "And?"))
        assert "was ended: by " in server.requests[-1].last_user_text
