"""What the person is told takes no key: no hit-enter prompt, whatever its length, and a picker only when they asked."""

import pytest

from agent_ls.testing.model_scenario import InOrder, say
from tests.editors.neovim.nvim import Nvim, neovim
from tests.scene import scene

pytestmark = pytest.mark.anyio

LONG = (
    "This sentence is longer than any command line of eighty columns, and so it would end in a prompt that takes a key."
)
SAY = "require('agent_ls.notice').say(...)"
TOAST = """
for _, window in ipairs(vim.api.nvim_list_wins()) do
  local config = vim.api.nvim_win_get_config(window)
  if config.relative ~= '' then
    local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
    return { table.concat(lines, ' '), config.focusable, window == vim.api.nvim_get_current_win() }
  end
end
return vim.NIL
"""


async def on_a_screen(nvim: Nvim) -> None:
    """As a person has it: without a screen there is no prompt. `vim.notify` is Neovim's own."""
    await nvim.call("nvim_ui_attach", 80, 24, {"rgb": True})
    await nvim.lua("vim.notify = _G.stock")


@pytest.mark.parametrize("begins", ["", "i", ":echo 'a'", "v", "d"])
async def test_a_long_sentence_takes_no_key_in_any_mode(begins: str) -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        await on_a_screen(nvim)
        await nvim.call("nvim_input", begins)
        before = await nvim.mode()
        await nvim.lua(f"vim.schedule(function() {SAY.replace('...', repr(LONG))} end)")
        await nvim.until(f"return ((function() {TOAST} end)()) ~= vim.NIL")
        assert await nvim.lua(TOAST) == [LONG, False, False]
        assert (await nvim.mode(), (await nvim.call("nvim_get_mode"))["blocking"]) == (before, False)


async def test_short_sentences_stand_on_the_command_line_and_two_at_once_take_no_key_either() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        await on_a_screen(nvim)
        await nvim.lua("local say = require('agent_ls.notice').say say('One.', 2) say('Two.', 2) say('Three.', 2)")
        assert await nvim.mode() == "n"
        assert await nvim.lua("return vim.fn.execute('messages')") == "\nOne."
        assert await nvim.lua(TOAST) == ["Two. Three.", False, False]
        await nvim.agent("notices")
        assert await nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)") == ["One.", "Two.", "Three."]


async def test_a_sentence_that_did_not_fit_goes_when_the_person_goes_on() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        await on_a_screen(nvim)
        await nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'a', 'b' })")
        await nvim.lua(
            f"{SAY} local uv, now = vim.uv, vim.uv.now() vim.uv.now = function() return now + 5000 end", LONG
        )
        await nvim.call("nvim_input", "j")
        await nvim.until(f"return ((function() {TOAST} end)()) == vim.NIL")


async def test_a_plugin_that_has_replaced_notify_gets_every_sentence_whole() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        await nvim.lua(f"{SAY} {SAY}", LONG)
        assert await nvim.notices() == [LONG, LONG]
        assert await nvim.lua(TOAST) is None


async def test_who_has_replaced_select_chooses_a_conversation_there_and_nobody_else_is_asked() -> None:
    async with scene(InOrder([say("One."), say("Two.")])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask First")
        await nvim.until_ended()
        first = await nvim.lua(CURRENT)
        await nvim.agent("new Second")
        await nvim.until_ended(2)
        second = await nvim.lua(CURRENT)
        await nvim.lua(PICKER)
        await nvim.agent("conversations")
        await nvim.until("return _G.offered ~= nil")
        assert await nvim.lua("return _G.offered") == [
            "Conversations",
            [f"› Second  · idle · {second}", f"  First  · idle · {first}"],
        ]
        assert await nvim.lua("return vim.fn.bufexists('agent-ls://conversations')") == 0
        await nvim.lua("_G.choose(nil)")
        assert await nvim.lua(CURRENT) == second
        await nvim.lua("_G.choose(2)")
        await nvim.until(f"{CURRENT} == '{first}'")
        # While somebody types by then, it asks nothing.
        await nvim.lua("_G.offered = nil")
        await nvim.call("nvim_input", "i")
        await nvim.until("return vim.api.nvim_get_mode().mode == 'i'")
        await nvim.agent("conversations")
        await nvim.until("return #_G.notices > 0")
        assert await nvim.notices() == ["The conversations are there; `:Agent conversations` shows them."]
        assert await nvim.lua("return _G.offered == nil") is True


CURRENT = "return require('agent_ls.state').current[require('agent_ls.client').here()]"
PICKER = """
vim.ui.select = function(items, opts, chosen)
  _G.offered = { opts.prompt, vim.tbl_map(opts.format_item, items) }
  _G.choose = function(place) chosen(place and items[place], place) end
end
"""
