"""Nothing of the plugin is ever in the way: not a key, not the cursor, not the focus."""

import pytest

from agent_ls.testing.model_scenario import ByConversation, Gate, InOrder, Say, Wait, reply, use
from tests.editors.neovim.nvim import CARDS, neovim
from tests.scene import EDIT, scene

pytestmark = pytest.mark.anyio

KEYS = "Dear agent, 1\r2 y\rn q :wq 3 a ?\r"


async def test_who_types_while_three_cards_come_loses_no_key_and_decides_nothing() -> None:
    names = ("first", "second", "third")
    scenarios = {name: InOrder([use("shell", command=f"echo {name} >> ran")]) for name in names}
    async with scene(ByConversation(scenarios)) as (_, home), home.editor(name="terminal") as asker:
        (home.workspace / "a.txt").write_text("above\nbelow\n")
        async with neovim(home, "a.txt", lines=60) as nvim:
            await nvim.until("return next(require('agent_ls.state').links) ~= nil")
            await nvim.call("nvim_input", "o")
            for count, name in enumerate(names, 1):
                conversation = await asker.create(home.workspace)
                await nvim.call("nvim_input", KEYS)
                await asker.send(conversation, name)
                await nvim.call("nvim_input", KEYS)
                await nvim.until_asked(count)
                await nvim.call("nvim_input", KEYS)
            expected = ["above", *("".join([KEYS] * 9).split("\r")), "below"]
            await nvim.until(f"return vim.api.nvim_buf_line_count(0) == {len(expected)}")
            assert await nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)") == expected
            assert (await nvim.mode(), await nvim.cards(), await nvim.notices()) == ("i", [], [])
            assert await nvim.lua("return #vim.api.nvim_list_wins()") == 1
            assert len(await asker.pending()) == 3
            assert await nvim.lua("return require('agent_ls').status()") == "agent: 3 to answer"
            # Now that nobody types, they are there.
            await nvim.call("nvim_input", "\x1b")
            await nvim.until("return require('agent_ls.approvals').pending()[3].since ~= nil")
            assert [card[0] for card in await nvim.cards()] == ["a.txt"] * 3
            assert await nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)") == expected
            assert len(await asker.pending()) == 3


async def test_a_sign_is_set_where_there_is_a_column_for_it() -> None:
    async with scene(InOrder([use("read", path="a.txt"), EDIT])) as (_, home):
        (home.workspace / "a.txt").write_text("one\ntwo\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.command("set signcolumn=yes")
            await nvim.agent("ask Go")
            await nvim.until_asked()
            found = await nvim.until(f"local found = (function() {CARDS} end)() return #found == 1 and found")
            ((name, row, sign, _),) = found
            assert (name, row, sign.strip()) == ("a.txt", 1, "┃")


async def test_leaving_closing_and_writing_decide_nothing() -> None:
    async with scene(InOrder([use("shell", command="echo x >> ran")])) as (_, home):
        (home.workspace / "a.txt").write_text("a\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.agent("ask Go")
            (number,) = await nvim.until_asked()
            await nvim.agent(f"show {number}")
            await nvim.command("close")
            await nvim.agent()
            await nvim.command("write")
            await nvim.command("bwipeout! a.txt")
            async with home.editor() as other:
                assert [request["number"] for request in await other.pending()] == [number]


async def test_the_focus_stays_where_it_is_whatever_comes() -> None:
    async with scene(InOrder([reply(Say("Hello."))])) as (_, home):
        (home.workspace / "a.txt").write_text("a\n")
        async with neovim(home, "a.txt") as nvim:
            before = await nvim.lua("return vim.api.nvim_get_current_win()")
            await nvim.agent("ask Hello")
            await nvim.until_ended()
            await nvim.until_shows("Hello.")
            assert await nvim.lua("return vim.api.nvim_get_current_win()") == before
            await nvim.agent()
            assert await nvim.lua("return vim.api.nvim_list_wins()") == [before]


async def test_the_cursor_follows_from_the_last_line_only() -> None:
    first, second = Gate(), Gate()
    answer = reply(Say("one\ntwo\nthree"), Wait(first), Say("\nfour"), Wait(second), Say("\nfive\nsix"))
    async with scene(InOrder([answer])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask Count")
        await nvim.until_shows("three")
        assert await nvim.lua(CURSOR) == [7, 7]
        first.open()
        await nvim.until_shows("four")
        assert await nvim.lua(CURSOR) == [8, 8]
        await nvim.lua("vim.api.nvim_win_set_cursor(require('agent_ls.window').windows()[1], { 6, 1 })")
        second.open()
        await nvim.until_ended()
        await nvim.until_shows("six")
        assert await nvim.lua(CURSOR) == [6, 10]


async def test_an_update_of_one_call_touches_no_line_of_another() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        assert await nvim.lua(UPDATE) == [
            ["# head", "", "▌ one", "", "● call", "│ new", "● other", "", "▌ two"],
            [[2, 0], [6, 0], [8, 0]],
        ]


CURSOR = """
local window = require('agent_ls.window').windows()[1]
return { vim.api.nvim_win_get_cursor(window)[1], vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(window)) }
"""

UPDATE = """
local view = require('agent_ls.view').new(vim.api.nvim_create_buf(false, true), '# head')
view:load({
  { id = 'a', ord = 1, group = 'text', lines = { '▌ one' } },
  { id = 'b', ord = 2, group = 'call', lines = { '◐ call', '│ old', '│ old' } },
  { id = 'c', ord = 3, group = 'call', lines = { '● other' } },
})
view:put('d', 4, { '▌ two' }, 'text')
local space, marks = vim.api.nvim_create_namespace('test'), {}
for place, row in ipairs({ 2, 7, 9 }) do
  marks[place] = vim.api.nvim_buf_set_extmark(view.buf, space, row, 0, { strict = true })
end
view:put('b', 2, { '● call', '│ new' }, 'call')
local found = vim.tbl_map(function(mark)
  return vim.api.nvim_buf_get_extmark_by_id(view.buf, space, mark, {})
end, marks)
return { vim.api.nvim_buf_get_lines(view.buf, 0, -1, false), found }
"""
