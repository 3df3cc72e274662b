"""A daemon that is stopped (SIGSTOP) keeps its state directory: a newcomer says so in time, with the way out."""

import os
import signal
from subprocess import PIPE

import anyio
import pytest
from anyio.streams.stapled import StapledByteStream

from agent_ls.testing.editor import Editor
from agent_ls.testing.home import Home
from agent_ls.testing.model_scenario import InOrder, say, use
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

SOON_S = 9.0  # five seconds until it is said, and a busy machine
WAY_OUT = "`agent-ls restart --force`"


@pytest.mark.parametrize("verb", [("status",), ("restart",), ("ask", "Hello?")])
async def test_the_command_line_says_who_is_stuck_and_what_to_do(verb: tuple[str, ...]) -> None:
    async with scene(InOrder([])) as (_, home):
        pid = await stuck(home)
        with anyio.fail_after(SOON_S):
            done = await home.run(*verb)
        assert (done.returncode, f"process {pid}" in done.stderr, WAY_OUT in done.stderr) == (1, True, True)
        assert home.pid == pid
        await home.kill9()


async def test_an_editor_is_told_in_time_and_served_once_the_stuck_one_is_replaced() -> None:
    async with scene(InOrder([use("shell", command="echo x >> ran"), say("Done.")])) as (_, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Run it.")
            (asked,) = await editor.until_asked(conversation)
        pid = await stuck(home)
        async with home.process("connect", stdin=PIPE, stdout=PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            newcomer = Editor(StapledByteStream(process.stdin, process.stdout), name="newcomer", process=process)
            key = await newcomer.begin("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
            with anyio.fail_after(SOON_S):
                await newcomer.wait_for(lambda: newcomer.notices)
            ((method, params),) = newcomer.notices
            assert (method, params["type"]) == ("window/showMessage", 1)
            assert (f"process {pid}" in params["message"], WAY_OUT in params["message"]) == (True, True)

            done = await home.run("restart", "--force")
            assert (done.returncode, home.pid not in {None, pid}) == (0, True)
            assert (await newcomer.reply(key))["serverInfo"]["name"] == "agent-ls"
            await newcomer.wait_for(lambda: newcomer.hello)
            assert await newcomer.pending() == [asked]
            again = await newcomer.attach(conversation.id)
            await newcomer.respond(asked, "allow")
            await newcomer.until_ended(again, run_id)
        assert lines(home.workspace / "ran") == ["x"]


async def test_one_that_goes_on_again_was_not_replaced_and_serves() -> None:
    async with scene(InOrder([say("Hello.")])) as (_, home):
        pid = await stuck(home)
        assert (await home.run("restart")).returncode == 1
        os.kill(pid, signal.SIGCONT)
        async with home.editor() as editor:
            assert editor.hello["pid"] == pid
            conversation = await editor.create(home.workspace)
            await editor.until_ended(conversation, await editor.send(conversation, "Hello?"))


async def stuck(home: Home) -> int:
    pid = await home.start()
    os.kill(pid, signal.SIGSTOP)
    return pid
