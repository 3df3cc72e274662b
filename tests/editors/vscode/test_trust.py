"""A workspace that nobody has said to trust, in a real VS Code: nothing of it is started, and the agent only reads."""

import pytest
from playwright.async_api import expect

from agent_ls.testing.model_scenario import say, use
from tests.editors.vscode.stage import stage
from tests.editors.vscode.window import window

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]


async def test_no_program_of_it_is_started_and_nothing_in_it_is_changed() -> None:
    async with stage(trusted=False) as scenery:
        ran = scenery.home.root / "ran"
        program = scenery.home.workspace / ".venv" / "bin" / "agent-ls"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\ntouch {ran}\nexec agent-ls "$@"\n')
        program.chmod(0o755)
        settings = scenery.home.workspace / ".vscode" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(f'{{"agentLs.command": "{program}"}}')
        file = scenery.file("kept.py", "x = 1\n")
        edit = use("edit", path="kept.py", edits=[{"old": "x = 1", "new": "x = 2"}])
        scenery.answers("Change it", use("read", path="kept.py"), edit, say("I may not."))
        async with window(scenery.browser, scenery.code, scenery.home.workspace) as seen:
            await seen.show_agent()
            await expect(seen.chat().locator("header .warn")).to_contain_text("not trusted: the agent only reads")
            await seen.command("Agent: New Conversation")
            await expect(seen.chat().locator(".empty")).to_be_visible()
            await seen.ask("Change it")
            await expect(seen.chat().locator(".said")).to_have_text("I may not.")
            await expect(seen.chat().locator(".call.completed")).to_have_count(1)
        assert file.read_text() == "x = 1\n"
        assert not ran.exists()
