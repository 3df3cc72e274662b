"""Answers that say more than yes: a changed call, a plan, and the way from one thing that waits to the next."""

import pytest

from agent_ls.testing.model_scenario import InOrder, say, use
from tests.editors.neovim.nvim import neovim
from tests.scene import EDIT, lines, scene

pytestmark = pytest.mark.anyio

READ = use("read", path="a.txt")
PLAN = "# Tidy up\n\n1. Read.\n2. Write."
LINES = "return vim.api.nvim_buf_get_lines(0, 0, -1, false)"
FLOATS = "return vim.api.nvim_win_get_config(0).relative == 'editor'"


async def test_a_command_is_changed_in_a_buffer_and_runs_as_it_stands_there() -> None:
    async with scene(InOrder([use("shell", command="echo x >> ran"), say("Done.")])) as (_, home):
        async with neovim(home) as nvim:
            await nvim.agent("ask Run it")
            (number,) = await nvim.until_asked()
            await nvim.agent(f"edit {number}")
            await nvim.until(f"return vim.api.nvim_buf_get_name(0) == 'agent-ls://edit/{number}'")
            assert await nvim.lua(LINES) == ["echo x >> ran"]
            # Closing it, and an empty command, decide nothing.
            await nvim.call("nvim_input", "q")
            await nvim.until("return vim.api.nvim_buf_get_name(0) == ''")
            await nvim.agent(f"edit {number}")
            await nvim.until(f"return vim.api.nvim_buf_get_name(0) == 'agent-ls://edit/{number}'")
            await nvim.call("nvim_buf_set_lines", 0, 0, -1, False, [""])
            await nvim.call("nvim_input", "<CR>")
            await nvim.until("return #_G.notices > 0")
            assert await nvim.notices() == ["The command is empty; deny it instead."]
            assert await nvim.until_asked() == [number]
            await nvim.call("nvim_buf_set_lines", 0, 0, -1, False, ["echo y >> ran"])
            await nvim.until(PRESSED.format(key="<CR>"))
            await nvim.until_ended()
            await nvim.until_shows("● $ echo y >> ran")
            assert await nvim.lua("return vim.fn.bufexists('agent-ls://edit/1')") == 0
        assert lines(home.workspace / "ran") == ["y"]


async def test_a_file_is_changed_as_a_whole_and_becomes_the_edit_that_is_allowed() -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (_, home):
        (home.workspace / "a.txt").write_text("one\ntwo\nthree\n")
        async with neovim(home) as nvim:
            await nvim.agent("ask Change it")
            (number,) = await nvim.until_asked()
            await nvim.agent("edit")
            await nvim.until(f"return vim.api.nvim_buf_get_name(0) == 'agent-ls://edit/{number}'")
            assert await nvim.lua(LINES) == ["one", "2", "three"]
            await nvim.call("nvim_buf_set_lines", 0, 1, 2, False, ["zwei", "zweieinhalb"])
            await nvim.until(PRESSED.format(key="<CR>"))
            await nvim.until_ended()
        assert (home.workspace / "a.txt").read_text() == "one\nzwei\nzweieinhalb\nthree\n"


async def test_a_plan_is_read_in_a_window_that_the_person_opens_and_accepted_there() -> None:
    answers = [use("plan", markdown=PLAN), use("write", path="a.txt", content="a"), say("Done.")]
    async with scene(InOrder(answers)) as (_, home), neovim(home) as nvim:
        await nvim.agent("mode plan")
        await nvim.agent("ask Tidy up")
        (number,) = await nvim.until_asked()
        shown = await nvim.until_shows(f"┃ #{number}  Plan: Tidy up")
        assert f"┃ :Agent approve [edits] {number} · :Agent plan {number} · :Agent deny {number} why" in shown
        assert await nvim.lua(FLOATS) is False
        await nvim.agent("plan")
        assert await nvim.lua(FLOATS) is True
        assert await nvim.lua(LINES) == PLAN.split("\n")
        await nvim.until(PRESSED.format(key="e"))
        await nvim.until_ended(2)
        await nvim.until_shows("◌ Plan  · accepted", "Done.")
        assert (home.workspace / "a.txt").read_text() == "a"
        told = await nvim.notices()
        assert (told[0], told[-1]) == ("The next conversation begins in mode `plan`.", f"Allowed #{number}.")


async def test_the_keys_go_from_one_place_that_waits_to_the_next_and_the_stock_map_is_left_alone() -> None:
    both = [{"old": "two", "new": "2"}]
    async with scene(InOrder([READ, use("edit", path="a.txt", edits=both)])) as (_, home):
        (home.workspace / "a.txt").write_text("one\ntwo\nthree\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.lua("vim.keymap.set('n', '[x', 'dd')")
            await nvim.call("nvim_input", "]g")
            await nvim.until("return #_G.notices == 1")
            assert await nvim.notices() == [
                "Nothing that waits for you has a place to go to; `:Agent pending` lists it.",
            ]
            await nvim.agent("ask Change it")
            await nvim.until_asked()
            await nvim.until("return require('agent_ls.approvals').find() ~= nil")
            await nvim.call("nvim_input", "gg]g")
            await nvim.until("return vim.api.nvim_win_get_cursor(0)[1] == 2")
            await nvim.call("nvim_input", "gg[g")
            await nvim.until("return vim.api.nvim_win_get_cursor(0)[1] == 2")
            assert await nvim.lua("return vim.fn.maparg('<Plug>(agent-ls-approve)', 'n') ~= ''")


async def test_a_card_of_a_subagent_says_whose_task_it_is_and_what_would_hide_in_it_is_shown() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        assert await nvim.lua(SUBAGENT) == [
            "#3  Run a command",
            "asked by a subagent, whose task is: Count⟨U+202E⟩ the words",
            "$ wc a.txt",
        ]


async def test_a_card_says_where_else_a_command_would_run_and_how_it_failed_in_the_sandbox() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        assert await nvim.lua(OUTSIDE) == [
            "$ make",
            "in /",
            "in the background: it goes on when the run has ended",
            "outside the sandbox",
            "It failed there.",
            "  a: no⟨U+001B⟩[2K",
            "  b",
        ]


OUTSIDE = """
local shown = require('agent_ls.card').lines({
  number = 3, title = '$ make', kind = 'approval', options = {},
  card = {
    type = 'command', command = 'make', cwd = '/', background = true, outside = true, failed = 'It failed there.',
    output = 'a: no\\27[2K\\nb',
  },
})
return vim.tbl_map(function(line) return line[1] end, vim.list_slice(shown, 2, 8))
"""

SUBAGENT = """
local shown = require('agent_ls.card').lines({
  number = 3, title = '$ wc a.txt', kind = 'approval', options = {},
  origin = { conversationIds = { 'one' }, task = 'Count\\u{202e} the words' },
  card = { type = 'command', command = 'wc a.txt', cwd = '/' },
})
return vim.tbl_map(function(line) return line[1] end, vim.list_slice(shown, 1, 3))
"""

PRESSED = """
local function over() return #require('agent_ls.approvals').pending() == 0 end
if not over() then
  vim.api.nvim_feedkeys(vim.keycode('{key}'), 'xt', false)
  vim.wait(100, over, 10)
end
return over()
"""
