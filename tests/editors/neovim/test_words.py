"""The words of `:Agent` that change the conversation or show something beside it, and the maps that say them."""

import pytest

from agent_ls.testing.model_scenario import Gate, InOrder, Say, Wait, reply, say, use
from tests.editors.neovim.nvim import neovim
from tests.scene import scene

pytestmark = pytest.mark.anyio

NAME = "return vim.api.nvim_buf_get_name(0)"
LINES = "return vim.api.nvim_buf_get_lines(0, 0, -1, false)"
WINBAR = (
    "return vim.api.nvim_eval_statusline(vim.wo[require('agent_ls.window').windows()[1]].winbar, "
    "{ winid = require('agent_ls.window').windows()[1], use_winbar = true }).str"
)


async def test_title_mode_and_model_are_changed_by_a_word_each() -> None:
    both = ("scripted-1", "scripted-2")
    async with scene(InOrder([say("One.")]), models=both) as (_, home), neovim(home) as nvim:
        await nvim.agent("rename Something")
        await nvim.agent("mode wild")
        await nvim.agent("mode")
        await nvim.agent("ask First")
        await nvim.until_ended()
        await nvim.agent("rename The parser")
        await nvim.until_shows("# The parser")
        await nvim.agent("mode edits")
        await nvim.until("return #_G.notices == 5")
        await nvim.agent("mode")
        assert await nvim.notices() == [
            "There is no conversation here yet; `:Agent ask …` begins one.",
            "There is no mode `wild`: ask, edits, plan or auto.",
            "The mode is `ask`; `:Agent mode ask|edits|plan|auto` changes it.",
            "This conversation is `The parser` now.",
            "The mode is `edits` now.",
            "The mode is `edits`; `:Agent mode ask|edits|plan|auto` changes it.",
        ]
        await nvim.until("return vim.fn.getcompletion('Agent model scripted-2', 'cmdline')[1] == 'scripted-2'")
        await nvim.agent("model scripted-2")
        await nvim.until("return _G.notices[#_G.notices] == 'The model is `scripted-2` now.'")


async def test_what_failed_is_asked_again_and_a_held_queue_goes_on() -> None:
    gate = Gate()
    answers = [reply(Say("Wor"), Wait(gate)), say("Next."), say("Worked.")]
    async with scene(InOrder(answers)) as (server, home), neovim(home) as nvim:
        await nvim.agent("resume")
        assert await nvim.notices() == ["The last message has not failed and was not stopped."]
        await nvim.agent("ask Work")
        await nvim.until_shows("Wor")
        await nvim.agent("queue Then this")
        await nvim.until_shows("▏ Then this  · queued")
        await nvim.agent("stop")
        await nvim.until_ended()
        await nvim.agent("resume")
        await nvim.until_ended(2)
        await nvim.until_shows("Next.")
        await nvim.agent("hurry")
        assert (await nvim.notices())[-1] == "Nothing is running here."
        assert [request.last_user_text for request in server.requests] == ["Work", "Then this"]


async def test_what_waits_in_the_queue_is_taken_back_into_the_prompt_taken_out_or_said_now() -> None:
    gate = Gate()
    answers = [reply(Say("Working"), Wait(gate), Say(".")), say("I see.")]
    async with scene(InOrder(answers)) as (server, home), neovim(home) as nvim:
        await nvim.agent("queue")
        assert await nvim.notices() == ["Nothing waits for its turn; `:Agent queue …` puts something there."]
        await nvim.agent("ask Work")
        await nvim.until_shows("Working")
        for word in ("first", "second", "third"):
            await nvim.agent(f"queue {word}")
            await nvim.until_shows(f"▏ {word}  · queued")
        await nvim.agent("queue")
        assert await nvim.lua(LINES) == ["first", "second", "third"]
        await nvim.call("nvim_input", "x")
        await nvim.until("return #require('agent_ls.conversation').current().queue == 2")
        await nvim.agent("queue")
        await nvim.call("nvim_input", "p")
        await nvim.until_shows("▏ second  · joins at the next step")
        await nvim.agent("queue")
        assert await nvim.lua(LINES) == ["third"]
        await nvim.call("nvim_input", "e")
        await nvim.until("return vim.startswith(vim.api.nvim_buf_get_name(0), 'agent-ls://prompt')")
        assert await nvim.lua(LINES) == ["third"]
        gate.open()
        await nvim.until_ended()
        assert server.requests[-1].last_user_text == "second"


async def test_the_log_is_shown_and_a_word_that_this_daemon_cannot_do_is_one_sentence() -> None:
    async with scene(InOrder([say("One.")])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask First")
        await nvim.until_ended()
        await nvim.agent("shells")
        await nvim.until("return _G.notices[1] == 'No background shell runs.'")
        await nvim.agent("review")
        await nvim.until("return #_G.notices == 2")
        assert (await nvim.notices())[1].startswith("There is nothing to review here;")
        await nvim.agent("log")
        await nvim.until("return vim.api.nvim_buf_get_name(0) == 'agent-ls://log'")
        await nvim.until("return vim.fn.search('agent_ls.daemon') > 0")


async def test_from_a_line_of_the_transcript_to_the_line_of_the_file() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 41))
    edit = use("edit", path="a.txt", edits=[{"old": "line 30\n", "new": "line thirty\n"}])
    async with scene(InOrder([use("read", path="a.txt"), edit, say("Done.")])) as (_, home):
        (home.workspace / "a.txt").write_text(text)
        async with neovim(home, "a.txt") as nvim:
            await nvim.agent("mode edits")
            await nvim.agent("ask Change it")
            await nvim.until_ended()
            await nvim.until_shows("Done.")
            await nvim.lua("vim.fn.win_gotoid(require('agent_ls.window').windows()[1])")
            await nvim.command("call search('Change it') | normal! zR")
            await nvim.call("nvim_input", "<CR>")
            await nvim.until("return #_G.notices == 2")
            assert (await nvim.notices())[1] == "This line is about no file that is there."
            await nvim.command("call search('+line thirty')")
            await nvim.call("nvim_input", "<CR>")
            await nvim.until("return vim.fn.bufname() == 'a.txt'")
            assert await nvim.lua("return vim.fn.line('.')") == 30


async def test_who_else_follows_the_conversation_stands_above_it() -> None:
    async with scene(InOrder([say("One.")])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask First")
        await nvim.until_ended()
        assert "also in" not in await nvim.lua(WINBAR)
        async with home.editor(home.workspace, name="emacs") as other:
            (summary,) = (await other.request("agent/conversation/list", {}))["conversations"]
            await other.attach(summary["id"])
            await nvim.until(f"return ((function() {WINBAR} end)()):find('also in emacs', 1, true) ~= nil")


async def test_every_map_says_a_word_that_there_is() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        assert await nvim.lua(MAPS) == []


async def test_an_edit_keeps_cursor_marks_and_unsaved_text_and_is_undone_in_one_step() -> None:
    edits = [{"old": "line 3\n", "new": "line three\nand more\n"}, {"old": "line 20\n", "new": ""}]
    edit = use("edit", path="a.txt", edits=edits)
    async with scene(InOrder([use("read", path="a.txt"), edit, say("Done.")])) as (_, home):
        (home.workspace / "a.txt").write_text("".join(f"line {number}\n" for number in range(1, 31)))
        async with neovim(home, "a.txt") as nvim:
            await nvim.until("return next(vim.lsp.get_clients({ bufnr = vim.fn.bufnr('a.txt') })) ~= nil")
            await nvim.lua("vim.api.nvim_buf_set_lines(0, 9, 10, false, { 'mine' }) vim.cmd('10mark m')")
            await nvim.lua("vim.api.nvim_win_set_cursor(0, { 10, 2 })")
            await nvim.agent("mode edits")
            before = await nvim.lua("return { vim.fn.undotree().seq_cur, vim.fn.getbufline('a.txt', 1, '$') }")
            await nvim.agent("ask Change it")
            await nvim.until_ended()
            assert await nvim.lua(STANDS) == [[11, 2], "mine", 11, before[0] + 1, True]
            await nvim.command("silent undo")
            assert await nvim.lua("return vim.fn.getbufline('a.txt', 1, '$')") == before[1]


STANDS = """
vim.fn.win_gotoid(vim.fn.bufwinid('a.txt'))
return {
  vim.api.nvim_win_get_cursor(0), vim.api.nvim_get_current_line(), vim.fn.line("'m"), vim.fn.undotree().seq_cur,
  vim.bo.modified,
}
"""

# What a map says that is no word of the command, and names in the help that are no map.
MAPS = """
local wrong, verbs = {}, require('agent_ls.commands').VERBS
for _, plug in ipairs(require('agent_ls.keys').PLUGS) do
  local word = plug[3]:match('Agent (%l+)')
  if word and not verbs[word] or vim.fn.maparg(('<Plug>(agent-ls-%s)'):format(plug[1]), 'n') == '' then
    table.insert(wrong, plug[1])
  end
end
for word, verb in pairs(verbs) do
  if type(require('agent_ls.verbs.' .. verb[3])[word]) ~= 'function' then table.insert(wrong, word) end
end
return wrong
"""
