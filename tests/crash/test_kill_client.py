"""Kill -9 of a window: the daemon goes on as if nothing had happened, and the next window gets all of it."""

import anyio
import pytest

from agent_ls.testing.editor import LIMIT_S, Editor
from agent_ls.testing.model_scenario import Gate, InOrder, Say, Wait, reply, say, use
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio


async def test_killed_in_mid_stream_the_next_window_gets_the_text_so_far_and_the_rest() -> None:
    half, rest = Gate(), Gate()
    answer = reply(Say("Once upon"), Wait(half), Say(" a time"), Wait(rest), Say(" there was."))
    async with scene(InOrder([answer])) as (server, home):
        async with home.bridged(home.workspace) as first:
            conversation = await first.create(home.workspace)
            run_id = await first.send(conversation, "Tell me.")
            await first.wait_for(lambda: conversation.shown == "Once upon")
            await kill(first)
        half.open()
        async with home.bridged(home.workspace) as second:
            again = await second.attach(conversation.id)
            await second.wait_for(lambda: again.shown == "Once upon a time")
            assert again.conversation["status"] == "running"
            rest.open()
            await second.until_ended(again, run_id)
            assert again.answers == ["Once upon a time there was."]
            assert again.transcript == [("user_message", "completed"), ("assistant_message", "completed")]
        assert len(server.requests) == 1


async def test_killed_with_an_approval_pending_the_next_window_is_asked_and_its_answer_counts() -> None:
    async with scene(InOrder([use("shell", command="echo x >> ran"), say("Done.")])) as (server, home):
        async with home.bridged(home.workspace) as first:
            conversation = await first.create(home.workspace)
            run_id = await first.send(conversation, "Run it.")
            (asked,) = await first.until_asked(conversation)
            await kill(first)
        async with home.bridged(home.workspace) as second:
            await second.wait_for(lambda: second.changed == {"pending": 1, "requests": [asked]})
            again = await second.attach(conversation.id)
            assert again.pending == [asked]
            assert again.items == conversation.items
            await second.respond(asked, "allow")
            await second.until_ended(again, run_id)
            assert again.answers == ["Done."]
        assert lines(home.workspace / "ran") == ["x"]
        assert len(server.requests) == 2


async def test_killed_while_a_command_runs_the_command_goes_on_and_its_output_is_kept() -> None:
    command = "echo begun; cat gate; echo over"
    async with scene(InOrder([use("shell", command=command), say("Done.")])) as (_, home):
        gate = home.gate("gate")
        async with home.bridged(home.workspace) as first:
            conversation = await first.create(home.workspace)
            run_id = await first.send(conversation, "Run it.")
            await first.decide(conversation, "allow")
            await first.wait_for(lambda: "begun" in conversation.output)
            await kill(first)
        async with home.bridged(home.workspace) as second:
            again = await second.attach(conversation.id)
            assert again.output == "begun\n"
            await home.open_gate(gate, "through\n")
            await second.until_ended(again, run_id)
            assert again.result(again.calls[0]["id"])["output"] == "begun\nthrough\nover\n"


async def kill(editor: Editor) -> None:
    """Kill -9 of the window's process."""
    assert editor.process is not None
    editor.process.kill()
    with anyio.fail_after(LIMIT_S):
        await editor.process.wait()
