"""Servers of tools that lie, die, flood and stay: the run goes on, the daemon stays small, every request is legal."""

import json
import sys
from pathlib import Path

import anyio
import pytest

from agent_ls.testing.editor import LIMIT_S, Editor
from agent_ls.testing.home import Home
from agent_ls.testing.model_scenario import InOrder, say, use
from tests.scene import scene

pytestmark = pytest.mark.anyio

SERVER = Path(__file__).with_name("hostile_mcp.py")
MIB = 1024 * 1024


def config(way: str, timeout_s: float = 20) -> str:
    command = json.dumps([sys.executable, str(SERVER), way])
    return f'[permissions]\nallow = ["mcp__evil__*"]\n[mcp.evil]\ncommand = {command}\ntimeout_s = {timeout_s}\n'


async def until_up(editor: Editor) -> None:
    with anyio.fail_after(LIMIT_S):
        while True:
            (server,) = (await editor.request("agent/status", {}))["mcp"]
            if server["state"] == "up":
                return
            assert server["lastEnd"] is None, server["lastEnd"]


def resident(home: Home) -> int:
    status = Path(f"/proc/{home.pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


async def test_odd_names_and_schemas_make_no_request_that_a_server_would_refuse() -> None:
    answers = InOrder([say("Hello."), use("mcp__evil__t7"), say("Done.")])
    async with scene(answers, config=config("odd")) as (server, home), home.editor(home.workspace) as editor:
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Hello?"))
        await until_up(editor)
        await editor.until_ended(conversation, await editor.send(conversation, "Go."))
        offered = server.requests[-1].tools
        assert len(offered) == len(set(offered)) <= 200
        assert {"shell", "mcp__evil__shell", "mcp__evil__same"} <= set(offered)
        assert len(json.dumps(server.requests[-1].body["tools"])) < 400_000
        assert conversation.result(conversation.calls[-1]["id"])["output"] == "done"


@pytest.mark.parametrize(
    ("way", "status", "said"),
    [
        ("news", "ok", "done"),
        ("wrong", "error", ""),
        ("other", "ok", "done"),
        ("asks", "ok", "done"),
        ("pages", "ok", "done"),
        ("dies", "error", "ended while it was asked"),
        ("silent", "error", "did not do it"),
        ("huge", "ok", "zzz"),
        ("flood", "error", ""),
        ("stays", "ok", "done"),
    ],
)
async def test_whatever_a_server_does_its_call_has_one_result_and_the_run_goes_on(
    way: str, status: str, said: str
) -> None:
    answers = InOrder([say("Hello."), use("mcp__evil__do"), say("Done.")])
    limit = 1.5 if way in {"silent", "other"} else 20
    async with scene(answers, config=config(way, limit)) as (_, home), home.editor(home.workspace) as editor:
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Hello?"))
        await until_up(editor)
        before = resident(home)
        await editor.until_ended(conversation, await editor.send(conversation, "Go."))
        result = conversation.result(conversation.calls[0]["id"])
        assert (result["status"], said in result["output"]) == (status, True), result["output"][:500]
        assert resident(home) - before < 220 * MIB
        assert conversation.answers[-1] == "Done."
