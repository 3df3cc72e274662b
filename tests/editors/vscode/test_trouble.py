"""Trouble in a real VS Code: what went wrong, how long it waits, and how a person goes on."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from agent_ls.testing.model_scenario import Http, InOrder, say
from tests.editors.vscode.stage import Stage
from tests.editors.vscode.window import Window

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]

BUSY = Http(status=429, body={"error": {"message": "slow down"}}, headers={"Retry-After": "90"})
WRONG = Http(status=401, body={"error": {"message": "invalid api key", "type": "authentication_error"}})


def write(file: Path, **settings: Any) -> None:
    file.write_text(json.dumps({f"agentLs.{name}": value for name, value in settings.items()}))


async def test_a_wait_counts_down_and_is_hurried_by_a_click_and_by_a_command(scenery: Stage, vscode: Window) -> None:
    scenery.play.scenarios["Hurry twice"] = InOrder([BUSY, BUSY, say("At last.")])
    chat = vscode.chat()
    await vscode.ask("Hurry twice")
    wait = chat.locator(".countdown")
    notices = chat.locator("p.notice", has_text="slow down")
    await expect(wait).to_contain_text("Next try in 1 min")
    await wait.locator("button", has_text="Try now").click()
    await expect(notices).to_have_count(2)
    await expect(wait).to_have_count(1)
    await vscode.command("Agent: Try Again Now")
    await expect(chat.locator(".said")).to_have_text("At last.")
    await expect(wait).to_have_count(0)


async def test_what_failed_says_why_and_is_asked_again_by_a_click_and_by_a_command(
    scenery: Stage, vscode: Window
) -> None:
    scenery.play.scenarios["Fail twice"] = InOrder([WRONG, WRONG, say("With the right key.")])
    chat = vscode.chat()
    errors = chat.locator("p.error")
    again = chat.locator("button", has_text="Try again")
    await vscode.ask("Fail twice")
    await expect(errors).to_contain_text("key")
    await again.click()
    await expect(errors).to_have_count(2)
    # Only what failed last can be asked again.
    await expect(again).to_have_count(1)
    await vscode.command("Agent: Ask Again What Failed")
    await expect(chat.locator(".said")).to_have_text("With the right key.")
    await expect(again).to_have_count(0)


async def test_a_program_that_is_missing_or_ends_at_once_is_told_with_a_way_out_and_no_message(
    scenery: Stage, vscode: Window
) -> None:
    chat = vscode.chat()
    settings = scenery.home.workspace / ".vscode" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    try:
        write(settings, command="/nowhere/agent-ls")
        await expect(vscode.status).to_contain_text("not installed")
        await expect(chat.locator(".empty")).to_contain_text("“/nowhere/agent-ls”")
        await expect(chat.locator(".empty button")).to_have_text(["Install agent-ls", "Choose the program"])
        broken = scenery.home.root / "broken"
        broken.write_text("#!/bin/sh\nexit 1\n")
        broken.chmod(0o755)
        write(settings, command=str(broken))
        await expect(vscode.status).to_contain_text("down")
        await expect(chat.locator(".empty button")).to_have_text(["Try again", "Show the log"])
        await expect(vscode.page.locator(".notifications-toasts .notification-toast")).to_have_count(0)
        # A value of another type counts as none.
        write(settings, command=7, whileRunning=None, statusBar="yes", comments=[])
        await expect(vscode.status).to_have_text("agent")
        await expect(chat.locator(".empty")).to_contain_text("What shall be done?")
    finally:
        settings.unlink()
