"""A workspace's own servers of tools against rules that the person made elsewhere: nothing of them runs unseen."""

import json
import sys
from pathlib import Path

import pytest

from agent_ls.testing.model_scenario import InOrder, say, use
from tests.scene import scene

pytestmark = pytest.mark.anyio

SERVER = [sys.executable, "-m", "agent_ls.testing.mcp_server"]


def bring(workspace: Path, name: str) -> None:
    entry = {"command": SERVER[0], "args": SERVER[1:]}
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {name: entry}}))


@pytest.mark.parametrize("rule", ["mcp__notes__*", "mcp__notes__start", "mcp__*"])
async def test_no_rule_starts_a_server_that_a_workspace_brings(rule: str) -> None:
    answers = InOrder([use("mcp__notes__start"), say("Done.")])
    async with scene(answers, config=f'[permissions]\nallow = ["{rule}"]\n') as (_, home), home.editor() as editor:
        bring(home.workspace, "notes")
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        (asked,) = await editor.until_asked(conversation)
        assert asked["title"].startswith("Start MCP server notes: ")
        await editor.respond(asked, "deny")
        await editor.until_ended(conversation, run_id)
        assert (await editor.request("agent/status", {}))["mcp"] == []


async def test_mode_auto_asks_for_it_too() -> None:
    answers = InOrder([use("mcp__notes__start"), say("Done.")])
    async with scene(answers) as (_, home), home.editor() as editor:
        bring(home.workspace, "notes")
        conversation = await editor.create(home.workspace, mode="auto", allowAuto=True)
        run_id = await editor.send(conversation, "Go.")
        await editor.decide(conversation, "deny")
        await editor.until_ended(conversation, run_id)
        assert (await editor.request("agent/status", {}))["mcp"] == []
