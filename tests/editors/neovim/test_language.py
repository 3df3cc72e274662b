"""What the other language servers of a Neovim say reaches the agent, and files that it wrote are never asked about."""

import pytest

from agent_ls.testing.model_scenario import InOrder, say, use
from tests.editors.neovim.nvim import neovim
from tests.scene import EDIT, scene

pytestmark = pytest.mark.anyio

LINKED = "local link = select(2, next(require('agent_ls.state').links)) return link and link.hello ~= nil"

# A server in Lua itself: it knows one symbol and never changes anything.
SERVER = """
_G.asked = {}
vim.lsp.start({
  name = 'other', root_dir = vim.fn.getcwd(),
  cmd = function(dispatchers)
    local over = false
    return {
      request = function(method, params, done)
        table.insert(_G.asked, method)
        local uri = vim.uri_from_bufnr(vim.fn.bufnr('a.py'))
        local range = { start = { line = 1, character = 4 }, ['end'] = { line = 1, character = 9 } }
        local answers = {
          initialize = { capabilities = { workspaceSymbolProvider = true, referencesProvider = true } },
          ['workspace/symbol'] = { { name = 'greet', kind = 12, location = { uri = uri, range = range } } },
          ['textDocument/references'] = { { uri = uri, range = range } },
        }
        vim.schedule(function() done(nil, answers[method]) end)
        return true, 1
      end,
      notify = function() return true end,
      is_closing = function() return over end,
      terminate = function() over = true end,
    }
  end,
}, { bufnr = vim.fn.bufnr('a.py') })
"""


async def test_diagnostics_symbols_and_references_of_other_servers_are_seen_by_the_agent() -> None:
    answers = [
        use("diagnostics", path="a.py"),
        use("symbols", query="greet"),
        use("references", query="greet"),
        say("I see."),
    ]
    async with scene(InOrder(answers)) as (server, home):
        (home.workspace / "a.py").write_text("import os\ndef greet(): pass\n")
        async with neovim(home, "a.py") as nvim:
            await nvim.until(LINKED)
            await nvim.lua(SERVER)
            await nvim.until("return #vim.lsp.get_clients({ name = 'other' }) == 1")
            await nvim.lua(
                "vim.diagnostic.set(vim.api.nvim_create_namespace('other'), vim.fn.bufnr('a.py'), { "
                "{ lnum = 0, col = 7, message = 'unused import', severity = 2, source = 'lint' } })"
            )
            await nvim.agent("ask Look")
            await nvim.until_ended()
            await nvim.until_shows("I see.")
            assert "textDocument/references" in await nvim.lua("return _G.asked")
        first, second, third = [request.results[-1][1] for request in server.requests[1:]]
        assert "a.py:1" in first
        assert "unused import" in first
        assert "a.py:2: function greet" in second
        assert third.strip() == "a.py:2"


async def test_only_questions_are_passed_on_to_other_servers() -> None:
    async with scene(InOrder([])) as (_, home):
        (home.workspace / "a.py").write_text("x\n")
        async with neovim(home, "a.py") as nvim:
            await nvim.until(LINKED)
            _, error = await nvim.lua(
                "local link = select(2, next(require('agent_ls.state').links)) "
                "local params = { method = 'workspace/executeCommand' } "
                "local result, err = require('agent_ls.language').answer(link, params) "
                "return { result == nil, err.message }"
            )
            assert error == "This window passes on questions only, and `workspace/executeCommand` is none."


@pytest.mark.parametrize("written", [True, False])
async def test_a_file_that_the_agent_wrote_is_not_asked_about_and_unsaved_text_is_kept(*, written: bool) -> None:
    async with scene(InOrder([])) as (_, home):
        file = home.workspace / "a.txt"
        file.write_text("one\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.until(LINKED)
            await nvim.command("call setline(1, 'mine')")
            if written:
                await nvim.lua("require('agent_ls.documents').written(vim.uri_from_bufnr(0))")
            file.write_text("theirs and longer\n")
            choice = await nvim.lua(DISK_CHANGED)
            assert choice == ("" if written else "ask")
            assert await nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)") == ["mine"]
            assert len(await nvim.notices()) == (1 if written else 0)


async def test_two_neovims_with_the_changed_file_open_both_show_it_and_neither_asks_or_is_left_unsaved() -> None:
    async with scene(InOrder([use("read", path="a.txt"), EDIT, say("Done.")])) as (_, home):
        file = home.workspace / "a.txt"
        file.write_text("one\ntwo\n")
        async with neovim(home, "a.txt") as left, neovim(home, "a.txt") as right:
            await left.until(LINKED)
            await right.until(LINKED)
            await left.agent("mode edits")
            await left.agent("ask Change it")
            await left.until_ended()
            assert file.read_text() == "one\n2\n"
            for nvim in (left, right):
                await nvim.command("checktime")
                await nvim.until("return vim.fn.getbufline('a.txt', 2)[1] == '2'")
                assert await nvim.mode() == "n"
                assert "W1" not in await nvim.lua("return vim.fn.execute('messages')")
                assert await nvim.lua("return vim.bo[vim.fn.bufnr('a.txt')].modified") is False
            await right.command("silent undo")
            assert await right.lua("return vim.fn.getline(2)") == "two"


async def test_the_daemon_is_told_where_the_focus_is() -> None:
    async with scene(InOrder([])) as (_, home):
        (home.workspace / "a.txt").write_text("one\ntwo\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.until(LINKED)
            told = await nvim.lua(FOCUS)
            uri = (home.workspace / "a.txt").resolve().as_uri()
            at = {"line": 1, "character": 0}
            assert told == [
                ["agent/window/focus", {"focused": True, "uri": uri, "range": {"start": at, "end": at}}],
                ["agent/window/focus", {"focused": False, "uri": uri, "range": {"start": at, "end": at}}],
            ]


FOCUS = """
local client, told = require('agent_ls.client'), {}
local tell = client.tell
client.tell = function(_, method, params) table.insert(told, { method, params }) end
vim.api.nvim_win_set_cursor(0, { 2, 0 })
vim.cmd('doautocmd FocusGained')
vim.cmd('doautocmd FocusLost')
client.tell = tell
return told
"""

# What Neovim does when it looks at the disk; the choice is noted before it would be acted on.
DISK_CHANGED = """
local choice
local documents = require('agent_ls.documents')
local changed = documents.changed_on_disk
documents.changed_on_disk = function(buf)
  changed(buf)
  choice = vim.v.fcs_choice
  vim.v.fcs_choice = ''
end
vim.cmd('checktime')
vim.wait(1000, function() return choice ~= nil end, 10)
documents.changed_on_disk = changed
return choice
"""
