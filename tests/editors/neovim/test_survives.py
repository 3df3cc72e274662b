"""Kill -9 of Neovim, of the daemon and of the server process between them: all of it is there again."""

import getpass
import os
import signal

import pytest

from agent_ls.testing.home import kill9
from agent_ls.testing.model_scenario import Gate, InOrder, Say, Wait, reply, say, use
from tests.editors.neovim.nvim import PLUGIN, neovim
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

ME = getpass.getuser()
OWN = PLUGIN.parents[1] / ".venv" / "bin" / "agent-ls"


async def test_killed_in_mid_stream_a_new_neovim_shows_the_text_so_far_and_the_rest() -> None:
    half, rest = Gate(), Gate()
    answer = reply(Say("Once upon"), Wait(half), Say(" a\n\ntime"), Wait(rest), Say(" there was."))
    async with scene(InOrder([answer])) as (server, home):
        async with neovim(home) as first:
            await first.agent("ask Tell me")
            await first.until_shows("Once upon")
            await first.kill()
        half.open()
        async with neovim(home) as second:
            await second.agent()
            shown = await second.until_shows("Once upon a\n\ntime")
            assert shown == ["# Tell me", "", "▌ Tell me", "", "Once upon a", "", "time"]
            rest.open()
            await second.until_ended()
            assert await second.until_shows("time there was.") == [*shown[:-1], "time there was."]
        assert len(server.requests) == 1


async def test_killed_with_an_approval_pending_a_new_neovim_shows_the_same_card_and_its_answer_counts() -> None:
    async with scene(InOrder([use("shell", command="echo x >> ran"), say("Done.")])) as (_, home):
        async with neovim(home) as first:
            await first.agent("ask Run it")
            (number,) = await first.until_asked()
            before = await first.until_shows(f"waits for you: #{number}")
            await first.kill()
        async with neovim(home) as second:
            await second.agent("attach")
            assert await second.until_shows(f"waits for you: #{number}") == before
            assert await second.lua("return require('agent_ls').status()") == "agent: waits for you · 1 to answer"
            await second.answer(f"approve {number}")
            await second.until_ended()
            await second.until_shows("Done.")
        assert lines(home.workspace / "ran") == ["x"]


async def test_the_daemon_killed_while_a_card_waits_the_plugin_carries_on() -> None:
    async with scene(InOrder([use("shell", command="echo x >> ran"), say("Done."), say("Again.")])) as (_, home):
        async with neovim(home) as nvim:
            await nvim.agent("ask Run it")
            (number,) = await nvim.until_asked()
            shown = await nvim.until_shows(f"waits for you: #{number}")
            boot = await nvim.lua("return select(2, next(require('agent_ls.state').links)).hello.bootId")
            await home.kill9()
            await nvim.until(f"return select(2, next(require('agent_ls.state').links)).hello.bootId ~= '{boot}'")
            await nvim.until(ATTACHED)
            assert await nvim.shown() == shown
            await nvim.answer(f"approve {number}")
            await nvim.until_ended()
            await nvim.until_shows("Done.")
            await nvim.agent("ask And again")
            await nvim.until_shows("Again.")
        assert lines(home.workspace / "ran") == ["x"]


async def test_the_server_process_killed_is_started_again_and_what_was_missed_is_shown() -> None:
    rest = Gate()
    async with scene(InOrder([reply(Say("One"), Wait(rest), Say(" two."))])) as (_, home):
        (home.workspace / "a.txt").write_text("a\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.agent("ask Count")
            await nvim.until_shows("One")
            pid = await nvim.lua(SERVER_PID)
            os.kill(pid, signal.SIGSTOP)
            rest.open()
            async with home.editor(name="other") as other:
                (summary,) = (await other.request("agent/conversation/list", {}))["conversations"]
                mirror = await other.attach(summary["id"])
                await other.wait_for(lambda: mirror.answers == ["One two."])
            await kill9(pid)
            await nvim.until_shows("One two.")
            # The file that was open belongs to the new one as it did to the old one.
            await nvim.until("return #vim.lsp.get_clients({ bufnr = vim.fn.bufnr('a.txt') }) == 1")
            assert (await nvim.shown())[2:] == ["▌ Count", "", "One two."]


async def test_two_on_one_conversation_show_the_same_and_who_decided() -> None:
    async with scene(InOrder([use("shell", command="echo x >> ran"), say("Done.")])) as (_, home):
        (home.workspace / "a.txt").write_text("a\n")
        async with neovim(home) as left, neovim(home, "a.txt") as right:
            await left.agent("ask Run it")
            (number,) = await left.until_asked()
            await right.agent("attach")
            await right.until_shows(f"waits for you: #{number}")
            await left.answer(f"approve {number}")
            await left.until_ended()
            await right.until_ended()
            await right.until_nothing_waits()
            shown = await right.until_shows("Done.")
            assert f"● $ echo x >> ran  · allowed by {ME} in neovim" in shown
            assert shown == await left.until_shows("Done.")
            await right.agent(f"approve {number}")
            await right.until("return #_G.notices > 0")
            assert await right.notices() == [f"#{number} was allowed by {ME} in neovim."]
        assert lines(home.workspace / "ran") == ["x"]


async def test_without_the_program_one_sentence_says_how_to_get_it() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        await nvim.lua("vim.env.AGENT_LS_CMD = '/nowhere/agent-ls'")
        await nvim.agent("ask Hello")
        (said,) = await nvim.notices()
        assert said.startswith("agent-ls was not found. Run `make install`")


@pytest.mark.skipif(not OWN.exists(), reason="this copy was set up elsewhere")
async def test_the_program_of_the_copy_that_the_plugin_stands_in_is_found_where_the_path_has_none() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        (home.workspace / ".venv" / "bin").mkdir(parents=True)
        trap = home.workspace / ".venv" / "bin" / "agent-ls"
        trap.write_text("#!/bin/sh\n")
        trap.chmod(0o755)
        await nvim.lua("vim.env.AGENT_LS_CMD, vim.env.PATH = '', '/usr/bin:/bin'")
        assert await nvim.lua("return require('agent_ls.config').command()") == [str(OWN.resolve()), "connect"]


ATTACHED = "return select(2, next(require('agent_ls.state').conversations)).attached"
SERVER_PID = """
local pid
for _, child in ipairs(vim.api.nvim_get_proc_children(vim.fn.getpid())) do pid = child end
return pid
"""
