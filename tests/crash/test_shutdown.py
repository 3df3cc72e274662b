"""SIGTERM and `agent-ls stop`: what runs may come to its commit for a moment, then it is left to the next daemon."""

import os
import signal

import anyio
import pytest

from agent_ls.testing.editor import LIMIT_S
from agent_ls.testing.home import Home, gone
from agent_ls.testing.model_scenario import ByHistory, Gate, Say, Wait, reply, say
from tests.scene import scene

pytestmark = pytest.mark.anyio


def told(gate: Gate) -> ByHistory:
    return ByHistory([reply(Say("Hel"), Wait(gate), Say("lo")), say("Next.")])


async def test_sigterm_gives_what_runs_a_moment_and_an_answer_in_it_is_kept() -> None:
    gate = Gate()
    async with scene(told(gate)) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Say hello.")
        queued = await editor.say(conversation, "And then?", dispatch="queue")
        await editor.wait_for(lambda: conversation.shown == "Hel")
        pid = editor.hello["pid"]
        os.kill(pid, signal.SIGTERM)
        await until_draining(home)
        gate.open()
        await editor.until_ended(conversation, run_id)
        await editor.until_gone()
        assert ("agent/drain", {"retryAfterMs": 500, "reason": "shutdown"}) in editor.notices
        await ended(pid)
        assert (conversation.answers, len(server.requests)) == (["Hello"], 1)
        async with home.editor() as later:
            again = await later.attach(conversation.id)
            await later.until_ended(again, queued["runId"])
            assert (await later.attach(conversation.id)).answers == ["Hello", "Next."]
            assert await on_record(home) == [(None, []), ("shutdown", [queued["runId"]])]


async def test_after_that_moment_it_is_abandoned_and_answered_by_the_next_daemon() -> None:
    gate = Gate()
    async with scene(told(gate)) as (server, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Say hello.")
            await editor.wait_for(lambda: conversation.shown == "Hel")
            pid = editor.hello["pid"]
            os.kill(pid, signal.SIGTERM)
            await ended(pid)
        gate.open()
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            await editor.until_ended(again, run_id)
            again = await editor.attach(conversation.id)
            # Nothing is said of text that was shown and not committed: it was not lost, it is said again.
            assert again.transcript == [("user_message", "completed"), ("assistant_message", "completed")]
            assert (again.answers, len(server.requests)) == (["Hello"], 2)
            assert await on_record(home) == [(None, []), ("shutdown", [run_id])]


async def test_a_second_signal_ends_it_at_once() -> None:
    async with scene(told(Gate())) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await editor.send(conversation, "Say hello.")
        await editor.wait_for(lambda: conversation.shown == "Hel")
        await editor.request("agent/drain", {"mode": "handoff", "deadlineMs": 600_000})
        await until_draining(home)
        pid = editor.hello["pid"]
        os.kill(pid, signal.SIGTERM)
        os.kill(pid, signal.SIGTERM)
        await ended(pid)
        await editor.until_gone()
        assert editor.notices[-1] == ("agent/drain", {"retryAfterMs": 500, "reason": "shutdown"})


async def test_stop_waits_as_long_as_it_is_told() -> None:
    gate = Gate()
    async with scene(told(gate)) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Say hello.")
        await editor.wait_for(lambda: conversation.shown == "Hel")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(home.run, "stop", "--deadline", "60")
            await until_draining(home)
            gate.open()
            await editor.until_ended(conversation, run_id)
        assert (home.pid, conversation.answers, len(server.requests)) == (None, ["Hello"], 1)


async def until_draining(home: Home) -> None:
    with anyio.fail_after(LIMIT_S):
        async with home.editor(name="looker") as editor:
            while (await editor.request("agent/status", {}))["drain"] is None:
                pass


async def on_record(home: Home) -> list[tuple[str | None, list[str]]]:
    async with home.editor() as editor:
        status = await editor.request("agent/status", {})
    return [(each["mode"], each["inFlight"]) for each in status["instances"]]


async def ended(pid: int) -> None:
    with anyio.fail_after(LIMIT_S):
        await gone(pid)
