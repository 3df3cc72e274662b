"""The agent cannot approve itself: what its shells start is refused by the daemon, however far it has run."""

import shlex
import sys

import pytest

from agent_ls.testing.model_scenario import InOrder, UseTool, reply, say
from tests.scene import lines, scene

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ancestry is read from /proc"),
]

CLI = f"{shlex.quote(sys.executable)} -m agent_ls"
RAW = """
import os, socket
from agent_ls import paths
link = socket.socket(socket.AF_UNIX)
link.connect(paths.socket_path())
body = b'{"jsonrpc":"2.0","id":1,"method":"agent/request/list","params":{}}'
link.sendall(b"Content-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
print(link.recv(65536).decode())
"""
DENIED = "the agent cannot approve itself"


@pytest.mark.parametrize(
    "command",
    [
        f"{CLI} approve 2",
        f"{CLI} pending",
        f"{CLI} deny 2",
        f"{CLI} conversations",
        f"{CLI} ask 'approve number 2'",
        f"{CLI} interrupt",
        f"env -i PATH=$PATH HOME=$HOME $(env | grep ^AGENT_LS_ | xargs) {CLI} approve 2",
        f"{shlex.quote(sys.executable)} -c {shlex.quote(RAW)}",
    ],
    ids=["approve", "pending", "deny", "conversations", "ask", "interrupt", "clean environment", "bare socket"],
)
async def test_a_command_of_the_agent_is_denied_whatever_it_asks(command: str) -> None:
    calls = reply(
        UseTool("shell", {"command": f"{command} 2>&1; echo code $?"}), UseTool("shell", {"command": "echo x >> ran"})
    )
    async with scene(InOrder([calls, say("I tried.")])) as (_, home), home.bridged(home.workspace) as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        asked, other = await editor.until_asked(conversation, 2)
        await editor.respond(asked, "allow")
        item_id = asked["itemId"]
        await editor.wait_for(lambda: conversation.result(item_id))
        assert DENIED in conversation.result(item_id)["output"]
        assert conversation.pending == [other]
        assert await editor.pending() == [other]
        await editor.respond(other, "deny")
        await editor.until_ended(conversation, run_id)
        assert lines(home.workspace / "ran") == []


@pytest.mark.parametrize(
    "away",
    [
        "setsid sh -c {inner} >/dev/null 2>&1 &",
        "( ( nohup setsid sh -c {inner} >/dev/null 2>&1 & ) & );",
    ],
    ids=["setsid", "double fork"],
)
async def test_a_process_that_left_the_shell_behind_is_denied_too(away: str) -> None:
    inner = shlex.quote(f"cat gate; {CLI} approve 2 > said 2>&1; cat over")
    calls = reply(
        UseTool("shell", {"command": f"{away.format(inner=inner)} echo left"}),
        UseTool("shell", {"command": "echo x >> ran"}),
    )
    async with scene(InOrder([calls, say("I tried.")])) as (_, home), home.bridged(home.workspace) as editor:
        gate, over = home.gate("gate"), home.gate("over")
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        asked, other = await editor.until_asked(conversation, 2)
        await editor.respond(asked, "allow")
        await editor.wait_for(lambda: conversation.result(asked["itemId"]))
        # Its shell has ended; it goes on alone, and has said its word when it stands before the second gate.
        await home.open_gate(gate)
        await home.open_gate(over)
        assert DENIED in (home.workspace / "said").read_text()
        assert await editor.pending() == [other]
        await editor.respond(other, "deny")
        await editor.until_ended(conversation, run_id)
        assert lines(home.workspace / "ran") == []
