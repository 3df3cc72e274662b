"""Forks where two daemons share a PostgreSQL ledger: made by one of what the other holds, and merged back there."""

import pytest

from agent_ls.testing.model_scenario import ByConversation, Gate, InOrder, Say, UseTool, Wait, reply, say
from agent_ls.testing.postgres import PostgresServer
from tests.pair import two
from tests.protocol.test_forks import fork, said, words
from tests.protocol.test_merge_back import merge_back

pytestmark = pytest.mark.anyio


async def test_a_fork_is_made_elsewhere_of_a_conversation_at_work_and_merged_back_when_it_rests(
    postgres_server: PostgresServer,
) -> None:
    gate = Gate()
    look = reply(Say("I look."), UseTool("shell", {"command": "echo one"}))
    scenario = ByConversation(
        {"else": InOrder([say("Otherwise.")]), "Go": InOrder([look, reply(Say("It says"), Wait(gate), Say(" one."))])}
    )
    async with (
        two(scenario, postgres_server.database()) as (server, one, other),
        one.editor(one.workspace, name="a") as a,
        other.editor(one.workspace, name="b") as b,
    ):
        held = await a.create(one.workspace)
        run_id = await a.send(held, "Go.")
        await a.wait_for(lambda: "It says" in held.shown)
        seen = await b.attach(held.id)
        child = await fork(b, seen)
        assert words(child) == ["Go.", "I look."]
        await said(b, child, "Something else.")
        assert server.requests[-1].user_texts == ("Go.", "Something else.")
        gate.open()
        await a.until_ended(held, run_id)
        await b.until_ended(seen, run_id)
        await merge_back(b, child, seen)
        await a.wait_for(lambda: held.of_kind("handoff"))
        assert "Answered: Otherwise." in held.of_kind("handoff")[0]["payload"]["text"]
        assert words(await a.attach(child.id)) == ["Go.", "I look.", "Something else.", "Otherwise."]
        await a.request("agent/conversation/delete", {"commandId": "d", "conversationId": held.id})
        assert words(await b.attach(child.id)) == ["Go.", "I look.", "Something else.", "Otherwise."]
