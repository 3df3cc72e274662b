"""The buffer a message is written in: sent by a key, completed, recalled, and kept when its window is closed."""

import pytest

from agent_ls.testing.model_scenario import Gate, InOrder, Say, Wait, reply, say
from tests.editors.neovim.nvim import neovim
from tests.scene import scene

pytestmark = pytest.mark.anyio

LINES = "return vim.api.nvim_buf_get_lines(0, 0, -1, false)"
IN_PROMPT = "return vim.startswith(vim.api.nvim_buf_get_name(0), 'agent-ls://prompt')"
COMPLETED = """
vim.wo.virtualedit = 'onemore'
vim.api.nvim_buf_set_lines(0, 0, -1, false, { ... })
vim.api.nvim_win_set_cursor(0, { 1, #(...) })
local complete = require('agent_ls.prompt').complete
local from = complete(1, '')
return from < 0 and {} or vim.tbl_map(function(one) return one.word end, complete(0, (...):sub(from + 1)))
"""


async def test_what_is_written_is_sent_with_the_files_that_it_names_and_can_be_recalled() -> None:
    async with scene(InOrder([say("One."), say("Two.")])) as (server, home):
        (home.workspace / "hello.py").write_text("print('hello')\n")
        async with neovim(home) as nvim:
            await nvim.agent("prompt")
            assert await nvim.lua(IN_PROMPT)
            await nvim.call("nvim_input", "iLook at @hello.py,\nplease.<Esc>")
            await nvim.until("return #vim.api.nvim_buf_get_lines(0, 0, -1, false) == 2")
            # Closing its window sends nothing and keeps the text.
            await nvim.call("nvim_input", "q")
            await nvim.until("return vim.api.nvim_buf_get_name(0) == ''")
            await nvim.agent("prompt")
            assert await nvim.lua(LINES) == ["Look at @hello.py,", "please."]
            await nvim.call("nvim_input", "<CR>")
            await nvim.until_ended()
            shown = await nvim.until_shows("One.")
            assert shown[2:5] == ["▌ Look at @hello.py,", "▌ please.", "▌ with hello.py"]
            assert await nvim.lua(LINES) == [""]
            await nvim.call("nvim_input", "iunfinished<C-Up>")
            await nvim.until("return vim.api.nvim_buf_get_lines(0, 0, -1, false)[2] == 'please.'")
            await nvim.call("nvim_input", "<C-Down>")
            await nvim.until("return vim.api.nvim_buf_get_lines(0, 0, -1, false)[1] == 'unfinished'")
            await nvim.call("nvim_input", "<C-s>")
            await nvim.until_ended(2)
        assert "print('hello')" in str(server.requests[0].body)
        assert server.requests[1].last_user_text == "unfinished"


async def test_files_and_words_are_completed() -> None:
    async with scene(InOrder([])) as (_, home):
        (home.workspace / "src").mkdir()
        (home.workspace / "src" / "parser.py").write_text("")
        (home.workspace / ".hidden").write_text("")
        async with neovim(home) as nvim:
            await nvim.agent("prompt")
            assert await nvim.lua(COMPLETED, "see @") == ["@buffers", "@diagnostics", "@src/parser.py"]
            assert await nvim.lua(COMPLETED, "see @src/pa") == ["@src/parser.py"]
            assert await nvim.lua(COMPLETED, "/st") == ["/steer", "/stop", "/status"]
            assert await nvim.lua(COMPLETED, "and/or") == []


async def test_a_word_of_agent_is_said_with_a_slash_and_a_message_is_queued_or_steered_by_a_key() -> None:
    gate = Gate()
    answers = [reply(Say("Working"), Wait(gate), Say(".")), say("Next.")]
    async with scene(InOrder(answers)) as (server, home), neovim(home) as nvim:
        await nvim.agent("ask Work")
        await nvim.until_shows("Working")
        await nvim.agent("prompt")
        await nvim.call("nvim_input", "iThen this.<Esc>")
        await nvim.lua("vim.g.maplocalleader = ','")
        await nvim.until("return vim.api.nvim_get_mode().mode == 'n'")
        await nvim.agent("queue")
        await nvim.until_shows("▏ Then this.  · queued")
        await nvim.call("nvim_input", "i/status<C-s>")
        await nvim.until("return (_G.notices[1] or ''):find('agent: running') ~= nil")
        gate.open()
        await nvim.until_ended(2)
        assert server.requests[-1].last_user_text == "Then this."


async def test_a_message_that_cannot_be_sent_comes_back_into_the_prompt() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        await nvim.lua("vim.env.AGENT_LS_CMD = '/nowhere/agent-ls'")
        await nvim.agent("prompt")
        await nvim.call("nvim_input", "iKeep me<C-s>")
        await nvim.until("return #_G.notices > 0")
        assert await nvim.lua(LINES) == ["Keep me"]
        (said,) = await nvim.notices()
        assert said.startswith("agent-ls was not found.")


async def test_steered_words_reach_the_run_that_goes_on() -> None:
    gate = Gate()
    async with scene(InOrder([reply(Say("Working"), Wait(gate), Say(".")), say("I see.")])) as (server, home):
        async with neovim(home) as nvim:
            await nvim.agent("ask Work")
            await nvim.until_shows("Working")
            await nvim.agent("steer Leave the tests alone")
            await nvim.until_shows("▏ Leave the tests alone  · joins at the next step")
            gate.open()
            await nvim.until_ended()
            assert "joins at" not in "\n".join(await nvim.until_shows("▌ Leave the tests alone"))
        assert "Leave the tests alone" in str(server.requests[-1].body)
