"""SIGHUP: the configuration is read again, all of it or nothing, and nobody is interrupted."""

import os
import signal
from typing import Any

import anyio
import pytest

from agent_ls.testing.editor import LIMIT_S, Editor
from agent_ls.testing.home import Home
from agent_ls.testing.model_scenario import ByHistory, Gate, Say, Wait, reply, say, use
from tests.scene import scene

pytestmark = pytest.mark.anyio

RULE = '[permissions]\nallow = ["shell(touch one)"]\n'


async def test_rules_models_and_limits_hold_from_then_on() -> None:
    story = ByHistory([use("shell", command="touch one"), use("shell", command="touch two"), say("Done.")])
    async with scene(story) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        before = home.config.read_text()
        home.config.write_text(before.replace("scripted-1", "scripted-2") + RULE + "[limits]\nsteps_per_run = 1\n")
        await reloaded(home, editor)
        assert "touch one" in str(await editor.request("agent/permission/list", {}))
        run_id = await editor.send(conversation, "Go.")
        error = (await editor.until_ended(conversation, run_id, "failed"))["error"]
        assert (error["code"], (home.workspace / "one").exists()) == ("limit_reached", True)

        home.config.write_text(before + '[permissions]\ndeny = ["shell(touch two)"]\n')
        await reloaded(home, editor)
        again = await editor.create(home.workspace)
        run_id = await editor.send(again, "Go.")
        await editor.decide(again, "allow")
        await editor.until_ended(again, run_id)
        assert [call["status"] for call in again.calls] == ["completed", "cancelled"]
        assert editor.hello["pid"] == home.pid
        assert {request.model for request in server.requests} == {"scripted-1"}
        assert (await editor.create(home.workspace)).conversation["model"] == "scripted-1"


@pytest.mark.parametrize("broken", ["[[[", "[permissions]\nallow = 7\n"], ids=["no TOML", "a wrong rule"])
async def test_a_broken_file_changes_nothing_and_is_said(broken: str) -> None:
    story = ByHistory([use("shell", command="touch one"), say("Done.")])
    async with scene(story, config=RULE) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        good = home.config.read_text()
        home.config.write_text(good.replace(RULE, broken))
        error = (await reloaded(home, editor))["error"]
        assert str(home.config) in error
        assert "the configuration could not be read again, the one of before stays" in home.log
        shown = await home.run("status")
        assert "as of before the last change" in shown.stdout
        run_id = await editor.send(conversation, "Go.")
        await editor.until_ended(conversation, run_id)
        assert (home.workspace / "one").exists()

        home.config.write_text(good)
        assert (await reloaded(home, editor))["error"] is None


async def test_an_answer_that_is_being_given_by_a_provider_that_changes_is_given_to_its_end() -> None:
    gate = Gate()
    async with scene(ByHistory([reply(Say("Hel"), Wait(gate), Say("lo"))])) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Say hello.")
        await editor.wait_for(lambda: conversation.shown == "Hel")
        home.config.write_text(home.config.read_text() + "[http]\nidle_timeout_s = 33\n")
        await reloaded(home, editor)
        gate.open()
        await editor.until_ended(conversation, run_id)
        assert (conversation.answers, len(server.requests)) == (["Hello"], 1)


async def test_what_is_read_only_at_the_start_is_said_to_be() -> None:
    async with scene(ByHistory([])) as (_, home), home.editor() as editor:
        home.config.write_text(home.config.read_text() + "[ledger]\nclaim_ttl_s = 31\n")
        await reloaded(home, editor)
        assert "`ledger.claim_ttl_s` has changed; `agent-ls restart` puts it to use." in home.log


async def reloaded(home: Home, editor: Editor) -> dict[str, Any]:
    """Until the daemon has looked at the file; what it says of it."""
    before: dict[str, Any] = (await editor.request("agent/status", {}))["config"]
    os.kill(editor.hello["pid"], signal.SIGHUP)
    with anyio.fail_after(LIMIT_S):
        while (now := (await editor.request("agent/status", {}))["config"]) == before:
            pass
    return dict(now)
