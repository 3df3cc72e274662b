"""What a model, a tool or a file name says is text: it hides nothing, runs nothing, and holds nobody up."""

import pytest

from agent_ls.testing.model_scenario import Gate, InOrder, Say, UseTool, Wait, reply, say, use
from tests.editors.neovim.nvim import neovim
from tests.scene import scene

pytestmark = pytest.mark.anyio

RUN = "%{execute('let g:pwned = 1')}"
RUN_AGAIN = "%{%execute('let g:pwned = 2')%}"
PWNED = "return vim.g.pwned == nil and vim.fn.exists('g:pwned') == 0"
IN_TRANSCRIPT = "vim.fn.win_gotoid(require('agent_ls.window').windows()[1])"
BARS = """
local found = {}
for _, window in ipairs(vim.api.nvim_list_wins()) do
  for _, bar in ipairs({ 'winbar', 'statusline' }) do
    local options = { winid = window, use_winbar = bar == 'winbar' }
    local said = vim.wo[window][bar]
    table.insert(found, vim.api.nvim_eval_statusline(said ~= '' and said or '%<%f %h%m%r', options).str)
  end
end
return found
"""


async def test_blanks_and_lines_without_end_do_not_hold_neovim_up() -> None:
    blanks, line, signs = " " * 150_000 + "x", "x" * 1_000_000, "字\u202e" * 100_000
    gate = Gate()
    texts = (Say(f"{blanks}\n", 4000), Say(f"{line}\n", 50_000), Say(f"{signs}\n", 4000))
    answer = reply(*texts, Wait(gate), Say("end"))
    async with scene(InOrder([answer])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask Say much")
        await gate.reached()
        gate.open()
        await nvim.until_ended()
        assert "\u202e" not in "".join(await nvim.until_shows("end"))
        used = await nvim.lua(f"{SECONDS} local before = seconds() vim.cmd('redraw!') return seconds() - before")
        assert used < 2


async def test_signs_that_move_or_hide_text_are_shown_by_name_and_the_lines_of_a_text_are_its_own() -> None:
    said = "a\rb\r\nc\x00d\x1b[2Je\u202ef\u2066g\u200b\x9bh\n| quit\n:q!\n"
    async with scene(InOrder([say(said)])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask Hello")
        await nvim.until_ended()
        shown = await nvim.until_shows(":q!")
        assert shown[4:] == [
            "a⟨U+000D⟩b⟨U+000D⟩",
            "c⟨U+0000⟩d⟨U+001B⟩[2Je⟨U+202E⟩f⟨U+2066⟩g⟨U+200B⟩⟨U+009B⟩h",
            "| quit",
            ":q!",
        ]


async def test_a_modeline_of_the_model_sets_nothing() -> None:
    said = "vim: set tw=7 makeprg=evil :\n" * 3 + "ex: tw=7 :"
    async with scene(InOrder([say(said)])) as (_, home), neovim(home) as nvim:
        await nvim.command("set modeline modelines=5")
        await nvim.agent("ask Hello")
        await nvim.until_ended()
        await nvim.until_shows("ex: tw=7 :")
        await nvim.lua(f"{IN_TRANSCRIPT} vim.cmd('edit | doautocmd BufRead | split | buffer %')")
        assert await nvim.lua("return { vim.bo.textwidth, vim.bo.makeprg, vim.bo.modeline }") == [0, "", False]


async def test_a_title_a_file_name_and_a_question_run_nothing_in_any_bar_list_or_completion() -> None:
    name = f"{RUN} a|b.txt".replace("/", "")
    options = [{"id": f"<CR>:let g:pwned=3<CR>{RUN}", "label": f"{RUN}\n<Esc>:q"}, {"id": "b", "label": "plain"}]
    asks = [
        {"id": f"{RUN} x=", "text": f"{RUN_AGAIN}\x1b:q\r?", "options": options},
        {"id": "<CR>", "text": "And?", "options": options},
    ]
    answers = [
        use("read", path=name),
        use("edit", path=name, edits=[{"old": "one", "new": RUN}]),
        reply(UseTool("ask", {"questions": asks})),
    ]
    async with scene(InOrder(answers)) as (_, home):
        (home.workspace / name).write_text("one\n")
        async with neovim(home) as nvim:
            await nvim.lua("vim.cmd.edit(vim.fn.fnameescape(...))", name)
            await nvim.command("set statusline=%{v:lua.require'agent_ls'.status()}\\ %f tabline=%f")
            await nvim.agent("mode edits")
            await nvim.agent(f"ask {RUN} {RUN_AGAIN} | <CR>")
            (number,) = await nvim.until_asked()
            await nvim.agent(f"rename {RUN_AGAIN} | quit")
            await nvim.until_shows(f"# {RUN_AGAIN} | quit")
            for line in ("conversations", "locks", "rules", "review", f"show {number}", "queue", "prompt"):
                await nvim.agent(line)
                assert "rror" not in str(await nvim.lua(BARS))
            await nvim.until(
                "return vim.iter(vim.api.nvim_list_wins()):any(function(window) return "
                "vim.bo[vim.api.nvim_win_get_buf(window)].buftype == 'quickfix' end)"
            )
            found = await nvim.lua("return vim.fn.getcompletion('Agent attach ', 'cmdline')")
            assert [one.split(" ", 1)[1] for one in found] == [f"{RUN_AGAIN} | quit"]
            await nvim.lua("vim.cmd.Agent({ args = { 'attach', ... } })", found[0])
            await nvim.agent(f"answer {number}")
            await nvim.call("nvim_input", "1i")
            await nvim.until("return vim.api.nvim_get_mode().mode == 'c'")
            assert await nvim.lua("return vim.fn.getcmdline()") == f"Agent answer {number} 1=1 2="
            await nvim.call("nvim_input", "<C-c>")
            await nvim.command("redraw! | redrawstatus! | redrawtabline")
            assert await nvim.lua(BARS)
            assert await nvim.lua(PWNED) is True
            assert await nvim.until_asked() == [number]


async def test_the_name_of_another_editor_runs_nothing_in_the_bar_that_shows_it() -> None:
    async with scene(InOrder([say("One.")])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask First")
        await nvim.until_ended()
        async with home.editor(home.workspace, name=RUN_AGAIN) as other:
            (summary,) = (await other.request("agent/conversation/list", {}))["conversations"]
            await other.attach(summary["id"])
            await nvim.until(f"return table.concat((function() {BARS} end)()):find('also in', 1, true) ~= nil")
            assert RUN_AGAIN in "".join(await nvim.lua(BARS))
            await nvim.command("redraw!")
            assert await nvim.lua(PWNED) is True


async def test_the_environment_of_a_command_with_line_ends_in_it_is_one_line_of_the_card() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        assert await nvim.lua(ENVIRONMENT) == [
            "#3  Run a command",
            "$ make",
            "in /",
            "with A=1⏎$ rm -rf ~",
            "without B",
        ]


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "nul"])
async def test_enter_goes_to_ordinary_files_only(kind: str) -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        home.gate("pipe")
        (home.workspace / "folder").mkdir()
        (home.workspace / "a").write_text("a\n")
        path = {"device": "/dev/zero", "nul": "a\x00b"}.get(kind, kind)
        assert await nvim.lua(GOES, path) == "This line is about no file that is there."


SECONDS = """
local function seconds()
  local used = vim.uv.getrusage()
  return used.utime.sec + used.stime.sec + (used.utime.usec + used.stime.usec) / 1e6
end
"""

ENVIRONMENT = """
local shown = require('agent_ls.card').lines({
  number = 3, title = '$ make', kind = 'approval', options = {},
  card = { type = 'command', command = 'make', cwd = '/', environment = { A = '1\\n$ rm -rf ~', B = vim.NIL } },
})
return vim.tbl_map(function(line) return line[1] end, vim.list_slice(shown, 1, 5))
"""

GOES = """
local conversation = require('agent_ls.conversation')
local about = { id = 'one', status = 'idle', title = 'One' }
local one = {
  id = 'one', root = vim.fn.getcwd(), about = about, seq = 0, items = {}, requests = {}, queue = {}, streams = {},
}
require('agent_ls.state').conversations.one = one
require('agent_ls').load()
conversation.taken(one, {
  conversation = about, requests = {}, queue = {}, streams = {}, seq = 1, snapshot = true,
  items = {
    { id = 'i1', ord = 1, kind = 'tool_call', status = 'failed', payload = { tool = 'read', input = { path = ... } } },
  },
})
require('agent_ls.window').open(one)
vim.fn.win_gotoid(require('agent_ls.window').windows()[1])
vim.cmd('normal! G')
return require('agent_ls.jump').file(one)
"""
