"""`agent-ls stop`, `restart`, SIGTERM and the idle exit: the daemon ends what it began, and the next one goes on."""

import os
import signal

import anyio
import pytest

from agent_ls.testing.editor import LIMIT_S
from agent_ls.testing.home import gone
from agent_ls.testing.model_scenario import ByHistory, Gate, Say, Wait, reply, say, use
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio


async def test_a_command_that_runs_is_ended_and_the_model_is_told_the_truth_by_the_next_daemon() -> None:
    command = "echo x >> ran; echo begun; cat gate; echo x >> ran"
    async with scene(ByHistory([use("shell", command=command), say("I see.")])) as (server, home):
        home.gate("gate")
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Go.")
            await editor.decide(conversation, "allow")
            await editor.wait_for(lambda: "begun" in conversation.output)
            assert (await home.run("restart", "--deadline", "0.2")).returncode == 0
            await editor.until_gone()
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            await editor.until_ended(again, run_id)
            ((_, told),) = server.requests[1].results
            assert told.startswith("interrupted: ")
            assert "begun" in told
            assert (lines(home.workspace / "ran"), again.answers) == (["x"], ["I see."])
            assert again.pending == []


async def test_in_mid_stream_a_stop_loses_no_answer() -> None:
    gate = Gate()
    async with scene(ByHistory([reply(Say("Hel"), Wait(gate), Say("lo"))])) as (server, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Say hello.")
            await editor.wait_for(lambda: conversation.shown == "Hel")
            assert (await home.run("stop")).returncode == 0
        assert home.pid is None
        gate.open()
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            await editor.until_ended(again, run_id)
            again = await editor.attach(conversation.id)
            assert again.answers == ["Hello"]
        assert len(server.requests) == 2


async def test_sigterm_leaves_a_pending_approval_as_it_is() -> None:
    async with scene(ByHistory([use("shell", command="echo x >> ran"), say("Done.")])) as (_, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Go.")
            (asked,) = await editor.until_asked(conversation)
            pid = editor.hello["pid"]
            os.kill(pid, signal.SIGTERM)
            with anyio.fail_after(LIMIT_S):
                await gone(pid)
        async with home.editor() as editor:
            assert await editor.pending() == [asked]
            again = await editor.attach(conversation.id)
            await editor.respond(asked, "allow")
            await editor.until_ended(again, run_id)
        assert lines(home.workspace / "ran") == ["x"]


async def test_a_daemon_that_nobody_uses_ends_by_itself_and_a_run_keeps_it() -> None:
    gate = Gate()
    idle = "[daemon]\nidle_exit_s = 0.2\n"
    async with scene(ByHistory([reply(Say("Hel"), Wait(gate), Say("lo"))]), config=idle) as (_, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            await editor.send(conversation, "Say hello.")
            await editor.wait_for(lambda: conversation.shown == "Hel")
            pid = editor.hello["pid"]
        with anyio.move_on_after(1):
            await gone(pid)
        assert home.pid == pid
        gate.open()
        with anyio.fail_after(LIMIT_S):
            await gone(pid)
        async with home.editor() as editor:
            assert editor.hello["pid"] != pid
            assert (await editor.attach(conversation.id)).answers == ["Hello"]
