"""Kill -9 of the daemon while a subagent works: it recovers by itself, its parent waits on, and is told once."""

from typing import Any

import anyio
import pytest

from agent_ls.testing.crash_points import VARIABLE
from agent_ls.testing.editor import LIMIT_S
from agent_ls.testing.home import gone
from agent_ls.testing.model_scenario import ByConversation, ByHistory, Gate, UseTool, Wait, reply, say, use
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

TASK = UseTool("task", {"description": "Count", "prompt": "Count the files."})
PARENT = ByHistory([reply(TASK), say("Done.")])
POINTS = (
    "started.before",  # the call is approved
    "started.after",  # it has begun, and there is no child yet
    "claim.after:2",  # the child is about to be made
    "input.before:2",  # it is made and knows nothing
    "input.after:2",  # it knows its part
    "token.first:2",  # it is speaking
    "barrier.before",  # it is about to end
    "barrier.after",  # it has ended, its parent does not know
    "result.before",  # its parent is about to write down the result
    "result.after",  # it has
)


@pytest.mark.parametrize("point", POINTS)
async def test_whenever_the_daemon_dies_there_is_one_child_and_one_result(point: str) -> None:
    talk = ByConversation({"Count": ByHistory([say("Seven.")]), "Go": PARENT})
    async with scene(talk) as (server, home):
        home.env[VARIABLE] = point
        async with home.editor() as editor:
            pid = home.pid
            assert pid is not None
            conversation = await editor.create(home.workspace)
            await editor.begin(
                "agent/message/send",
                {
                    "commandId": "go",
                    "conversationId": conversation.id,
                    "content": [{"type": "text", "text": "Go."}],
                },
            )
            with anyio.fail_after(LIMIT_S):
                await gone(pid)
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            await editor.until_ended(again, f"{conversation.id}.r1")
            history = await editor.history(again)
            results = [e for e in history if (e["kind"], e["fact"]) == ("item", "finished")]
            assert [e["entity"]["payload"]["result"]["output"] for e in results] == ["Seven."]
            (shown,) = again.of_kind("subagent")
            assert (shown["payload"]["status"], shown["payload"]["result"]) == ("completed", "Seven.")
            child = await editor.attach(shown["payload"]["conversationId"])
            assert child.answers == ["Seven."]
            assert again.answers == ["Done."]
        assert [told for _, told in server.requests[-1].results] == ["Seven."]


async def test_an_approval_of_a_subagent_still_waits_after_it_under_its_number_and_runs_once() -> None:
    child = ByHistory([use("shell", command="echo x >> ran"), say("Ran.")])
    talk = ByConversation({"Count": child, "Go": PARENT})
    async with scene(talk) as (server, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Go.")
            await editor.wait_for(lambda: statuses(conversation) == ["waiting"])
            (asked,) = await editor.pending()
            await home.kill9()
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            assert again.pending == [asked]
            assert asked["origin"] == {"conversationIds": [conversation.id], "task": "Count"}
            await editor.respond(asked, "allow")
            await editor.until_ended(again, run_id)
            assert again.answers == ["Done."]
        assert lines(home.workspace / "ran") == ["x"]
        assert [told for _, told in server.requests[-1].results] == ["Ran."]


async def test_a_stop_that_was_noted_just_before_stops_the_child_too_and_nothing_goes_on() -> None:
    gate = Gate("child")
    talk = ByConversation({"Count": ByHistory([reply(Wait(gate), *say("Late.").steps)]), "Go": PARENT})
    async with scene(talk) as (_, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Go.")
            await gate.reached()
            await editor.wait_for(lambda: statuses(conversation) == ["running"])
            child_id = conversation.of_kind("subagent")[0]["payload"]["conversationId"]
            await editor.interrupt(run_id)
            await home.kill9()
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            await editor.until_ended(again, run_id, "interrupted")
            child = await editor.attach(child_id)
            await editor.until_ended(child, f"{child_id}.r1", "interrupted")
            assert statuses(again) == ["interrupted"]


async def test_a_restart_leaves_a_subagent_to_the_next_daemon_at_once() -> None:
    gate = Gate("child")
    once = ByHistory([use("shell", command="/bin/cat gate"), reply(*say("Late.").steps)])
    talk = ByConversation({"Count": once, "Go": PARENT})
    async with scene(talk) as (server, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Go.")
            await editor.wait_for(lambda: statuses(conversation) == ["waiting"])
        done = await home.run("restart")
        assert done.returncode == 0, done.stderr
        assert "abandoned" not in home.log
        assert "did not come to a commit" not in home.log
        async with home.editor() as editor:
            (asked,) = await editor.pending()
            again = await editor.attach(conversation.id)
            await editor.respond(asked, "deny", reason="no")
            await editor.until_ended(again, run_id)
        assert [told for _, told in server.requests[-1].results] == ["Late."]
        gate.open()


def statuses(conversation: Any) -> list[str]:
    return [item["payload"]["status"] for item in conversation.of_kind("subagent")]
