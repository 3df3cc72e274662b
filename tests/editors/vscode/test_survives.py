"""Everything is found again in a real VS Code: after a reload, after kill -9 of extension host and daemon."""

import os
import signal

import pytest
from playwright.async_api import expect

from agent_ls.testing.model_scenario import Say, Wait, reply, say, use
from tests.editors.vscode.stage import Stage
from tests.editors.vscode.window import Window

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]


async def test_after_a_reload_the_approval_that_waits_and_the_text_in_flight_are_back(
    scenery: Stage, vscode: Window
) -> None:
    gate = scenery.server.gate("reload")
    scenery.answers("Stream over a reload", reply(Say("The first half, "), Wait(gate), Say("and the second.")))
    file = scenery.file("reload.py", "x = 1\n")
    edit = use("edit", path="reload.py", edits=[{"old": "x = 1", "new": "x = 2"}])
    scenery.answers("Wait over a reload", use("read", path="reload.py"), edit, say("Changed after all."))
    chat = vscode.chat()
    await vscode.file("reload.py")
    await vscode.ask("Wait over a reload")
    await chat.locator(".card").wait_for()
    await vscode.command("Agent: New Conversation")
    await expect(chat.locator(".empty")).to_be_visible()
    await vscode.ask("Stream over a reload")
    await expect(chat.locator(".in-flight")).to_have_text("The first half,")
    await vscode.input.fill("what I was about to say")

    await vscode.reload()
    await expect(vscode.status).to_contain_text("1 waiting")
    await expect(chat.locator(".in-flight")).to_have_text("The first half,")
    await expect(vscode.input).to_have_value("what I was about to say")
    gate.open()
    await expect(chat.locator(".said")).to_have_text("The first half, and the second.")
    # VS Code writes down which editors are open every few seconds only.
    editor = await vscode.file("reload.py")
    await vscode.answer_in_thread(editor, "Allow Once")
    await expect(vscode.status).to_have_text("agent")
    await vscode.input.fill("")
    await vscode.open_conversation("Wait over a reload")
    await expect(chat.locator(".said")).to_have_text("Changed after all.")
    assert file.read_text() == "x = 2\n"


async def test_kill_9_of_the_extension_host_loses_nothing(scenery: Stage, vscode: Window) -> None:
    scenery.answers("Outlive the host", use("shell", command="echo once >> host.txt"), say("Ran after the host."))
    chat = vscode.chat()
    await vscode.ask("Outlive the host")
    await chat.locator(".card").wait_for()
    before = scenery.extension_host
    os.kill(before, signal.SIGKILL)
    await vscode.until(lambda: scenery.extension_host != before)
    await vscode.ready()
    await expect(vscode.status).to_contain_text("1 waiting")
    await vscode.allow_in_chat("Run a command")
    await expect(chat.locator(".said")).to_have_text("Ran after the host.")
    assert (scenery.home.workspace / "host.txt").read_text() == "once\n"


async def test_kill_9_of_the_bridge_is_a_pause(scenery: Stage, vscode: Window) -> None:
    scenery.answers("Outlive the bridge", use("shell", command="echo once >> bridge.txt"), say("Ran after the bridge."))
    chat = vscode.chat()
    await vscode.ask("Outlive the bridge")
    await chat.locator(".card").wait_for()
    await vscode.input.fill("half a thought")
    before = scenery.bridges
    os.kill(before[0], signal.SIGKILL)
    await vscode.until(lambda: scenery.bridges not in ([], before))
    await expect(vscode.status).to_contain_text("1 waiting")
    assert len(scenery.bridges) == 1
    await vscode.allow_in_chat("Run a command")
    await expect(chat.locator(".said")).to_have_text("Ran after the bridge.")
    await expect(vscode.input).to_have_value("half a thought")
    assert (scenery.home.workspace / "bridge.txt").read_text() == "once\n"


async def test_kill_9_of_the_daemon_is_a_pause(scenery: Stage, vscode: Window) -> None:
    gate = scenery.server.gate("daemon")
    scenery.answers(
        "Outlive the daemon",
        use("shell", command="echo once >> daemon.txt"),
        reply(Say("Half of it, "), Wait(gate), Say("all of it.")),
    )
    chat = vscode.chat()
    await vscode.ask("Outlive the daemon")
    await chat.locator(".card").wait_for()
    await scenery.home.kill9()
    await expect(vscode.status).to_contain_text("1 waiting")
    await vscode.allow_in_chat("Run a command")
    await expect(chat.locator(".in-flight")).to_have_text("Half of it,")
    await scenery.home.kill9()
    gate.open()
    await expect(chat.locator(".said")).to_have_text("Half of it, all of it.")
    await expect(chat.locator(".in-flight")).to_have_count(0)
    assert (scenery.home.workspace / "daemon.txt").read_text() == "once\n"
