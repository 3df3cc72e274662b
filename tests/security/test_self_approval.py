"""The agent cannot approve itself: what its shells start is refused by the daemon, however far it has run."""

import os
import shlex
import sys
from collections.abc import Awaitable, Callable

import anyio
import pytest

from agent_ls.daemon.seal import is_sealed
from agent_ls.testing.home import Home
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
SEALED_START = """
import os, sys
from agent_ls.daemon.seal import seal
seal(sys.argv[1])
os.execv(sys.executable, [sys.executable, "-m", "agent_ls", "start"])
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


async def ends_and_starts_again(home: Home) -> None:
    assert (await home.run("restart")).returncode == 0


async def is_killed(home: Home) -> None:
    await home.kill9()


AS_A_PERSON = pytest.mark.skipif(is_sealed(os.getpid()), reason="the agent itself runs these tests")


@AS_A_PERSON
@pytest.mark.parametrize("daemon", [ends_and_starts_again, is_killed])
@pytest.mark.parametrize(
    "left",
    [
        "({inner}) >/dev/null 2>&1 &",
        "env -i $(env | grep -E '^(PATH|HOME|AGENT_LS_.*)=') setsid sh -c {quoted} >/dev/null 2>&1 &",
    ],
    ids=["as it was", "with a clean environment in a session of its own"],
)
async def test_what_a_command_left_behind_is_denied_by_the_next_daemon_too(
    left: str, daemon: Callable[[Home], Awaitable[None]]
) -> None:
    inner = f"cat gate; {CLI} approve 2 > said 2>&1; cat over"
    command = left.format(inner=inner, quoted=shlex.quote(inner))
    calls = reply(UseTool("shell", {"command": f"{command} echo left"}), UseTool("shell", {"command": "echo x >> ran"}))
    async with scene(InOrder([calls, say("I tried.")])) as (_, home):
        gate, over = home.gate("gate"), home.gate("over")
        async with home.editor(home.workspace) as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Go.")
            asked, other = await editor.until_asked(conversation, 2)
            await editor.respond(asked, "allow")
            await editor.wait_for(lambda: conversation.result(asked["itemId"]))
        await daemon(home)
        async with home.editor(home.workspace) as editor:
            await home.open_gate(gate)
            await home.open_gate(over)
            assert DENIED in (home.workspace / "said").read_text()
            assert await editor.pending() == [other]
            conversation = await editor.attach(conversation.id)
            await editor.respond(other, "deny")
            await editor.until_ended(conversation, run_id)
        assert lines(home.workspace / "ran") == []


@AS_A_PERSON
async def test_the_agent_cannot_start_a_daemon_that_would_let_it_in() -> None:
    inner = f"cat gate; {CLI} approve 2 > said 2>&1; cat over"
    calls = reply(
        UseTool("shell", {"command": f"({inner}) >/dev/null 2>&1 & echo left"}),
        UseTool("shell", {"command": "echo x >> ran"}),
    )
    async with scene(InOrder([calls, say("I tried.")])) as (_, home):
        gate, over = home.gate("gate"), home.gate("over")
        async with home.editor(home.workspace) as editor:
            conversation = await editor.create(home.workspace)
            await editor.send(conversation, "Go.")
            asked, other = await editor.until_asked(conversation, 2)
            await editor.respond(asked, "allow")
            await editor.wait_for(lambda: conversation.result(asked["itemId"]))
        await home.kill9()
        await home.open_gate(gate)
        await home.open_gate(over)
        assert "may not start the daemon" in (home.workspace / "said").read_text()
        async with home.editor(home.workspace) as editor:
            assert await editor.pending() == [other]
        assert lines(home.workspace / "ran") == []


async def test_an_agent_may_start_a_daemon_for_a_state_of_its_own_again_and_again() -> None:
    async with scene(InOrder([])) as (_, home):
        start = [sys.executable, "-c", SEALED_START, os.fspath(home.state)]
        for _ in range(2):
            done = await anyio.run_process(start, env=home.env, check=False)
            assert done.returncode == 0, done.stderr
            async with home.editor(home.workspace) as editor:
                assert await editor.pending() == []
            await home.kill9()
