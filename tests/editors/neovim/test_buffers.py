"""The agent's edit in every kind of buffer: made as it was shown, or refused with the reason, and never half."""

import json

import pytest

from agent_ls.testing.model_scenario import InOrder, say, use
from tests.editors.neovim.nvim import Nvim, neovim
from tests.scene import EDIT, scene

pytestmark = pytest.mark.anyio

LINKED = "local link = select(2, next(require('agent_ls.state').links)) return link and link.hello ~= nil"
READ = use("read", path="a.txt")
SAVED = "a.txt: 1 place replaced, line 2. It is saved, through neovim."
KEPT = "a.txt: 1 place replaced, line 2. It had unsaved changes in neovim, so it is changed there and not saved."


async def changed(nvim: Nvim) -> None:
    await nvim.agent("mode edits")
    await nvim.agent("ask Change it")
    await nvim.until_ended()


@pytest.mark.parametrize(
    ("data", "before"),
    [
        (b"one\r\ntwo\r\nthree\r\n", "setlocal list"),
        (b"\xef\xbb\xbfone\ntwo\nthree\n", "setlocal list"),
        (b"one\ntwo\nthree", "setlocal list"),
        (b"one\ntwo\n\xe9\n", "setlocal list"),
        (b"one\ntwo\nthree\n", "setlocal nobuflisted"),
        (b"one\ntwo\nthree\n", "1,3fold"),
        (b"one\ntwo\nthree\n", "diffthis | vnew | call setline(1, ['one', '2']) | diffthis"),
        (b"one\ntwo\nthree\n", "enew"),
        (b"one\ntwo\nthree\n", "enew | bunload a.txt"),
        (b"one\ntwo\nthree\n", "tabnew | tabprevious"),
    ],
    ids=["dos", "bom", "noeol", "latin1", "unlisted", "folded", "diff", "hidden", "unloaded", "in two tab pages"],
)
async def test_nothing_but_what_was_shown_is_changed_on_the_disk(data: bytes, before: str) -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (server, home):
        file = home.workspace / "a.txt"
        file.write_bytes(data)
        async with neovim(home, "a.txt") as nvim:
            await nvim.until(LINKED)
            await nvim.command(before)
            await changed(nvim)
            assert file.read_bytes() == data.replace(b"two", b"2")
            assert server.requests[2].results[-1][1].startswith("a.txt: 1 place replaced, line 2.")
            assert await nvim.lua("return vim.fn.execute('messages')") == ""


@pytest.mark.parametrize(
    "data", [b"one\r\ntwo\r\n", b"\xef\xbb\xbfone\ntwo\n", b"one\ntwo"], ids=["dos", "bom", "noeol"]
)
async def test_where_there_is_unsaved_text_the_disk_is_not_touched_and_one_undo_takes_the_edit_back(
    data: bytes,
) -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (server, home):
        file = home.workspace / "a.txt"
        file.write_bytes(data)
        async with neovim(home, "a.txt") as nvim:
            await nvim.until(LINKED)
            await nvim.command("call setline(1, 'mine')")
            await changed(nvim)
            assert server.requests[2].results[-1][1] == KEPT
            assert (file.read_bytes(), await nvim.lua(TEXT)) == (data, ["mine", "2"])
            await nvim.lua(f"{IN_FRONT} vim.cmd('silent undo')")
            assert await nvim.lua(TEXT) == ["mine", "two"]


@pytest.mark.parametrize(
    ("before", "why"),
    [
        ("setlocal nomodifiable", "the buffer of a.txt is 'nomodifiable'"),
        ("setlocal readonly", "the buffer of a.txt is 'readonly'"),
    ],
)
async def test_a_buffer_that_may_not_be_changed_is_not_and_the_agent_is_told_why(before: str, why: str) -> None:
    async with scene(InOrder([READ, EDIT, say("Well.")])) as (server, home):
        file = home.workspace / "a.txt"
        file.write_text("one\ntwo\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.until(LINKED)
            await nvim.command(before)
            await changed(nvim)
            assert (file.read_text(), await nvim.lua(TEXT)) == ("one\ntwo\n", ["one", "two"])
            assert f"neovim did not make the change ({why})" in server.requests[2].results[-1][1]
            # Nor a warning of Neovim's own, which waits a second.
            assert await nvim.lua("return vim.fn.execute('messages')") == ""
            assert await nvim.lua("return vim.bo[vim.fn.bufnr('a.txt')].modified") is False


async def test_a_buffer_that_got_another_name_is_that_other_file_and_the_first_is_changed_on_disk() -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (_, home):
        file = home.workspace / "a.txt"
        file.write_text("one\ntwo\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.until(LINKED)
            await nvim.command("file b.txt")
            await nvim.until("return #vim.lsp.get_clients({ bufnr = vim.fn.bufnr('b.txt') }) == 1")
            await changed(nvim)
            assert file.read_text() == "one\n2\n"
            assert await nvim.lua("return vim.fn.getbufline('b.txt', 1, '$')") == ["one", "two"]
            assert not (home.workspace / "b.txt").exists()


async def test_typing_goes_on_through_an_edit_of_several_places_each_is_its_own_undo_step_and_none_is_in_doubt() -> (
    None
):
    text = "".join(f"line {number}\n" for number in range(1, 31))
    edits = [{"old": "line 3\n", "new": "line three\nand more\n"}, {"old": "line 20\n", "new": ""}]
    change = use("edit", path="a.txt", edits=edits)
    async with scene(InOrder([READ, change, say("Done.")])) as (server, home):
        file = home.workspace / "a.txt"
        file.write_text(text)
        async with neovim(home, "a.txt") as nvim:
            await nvim.until(LINKED)
            await nvim.agent("mode edits")
            await nvim.lua("vim.api.nvim_win_set_cursor(0, { 10, 0 })")
            await nvim.call("nvim_input", "A before")
            await nvim.until("return vim.fn.getline(10) == 'line 10 before'")
            await nvim.agent("ask Change it")
            # The keys go on in the very moment in which the edit is made.
            await nvim.until("return vim.fn.getbufline('a.txt', 3)[1] == 'line three'")
            await nvim.call("nvim_input", " after\rnext")
            await nvim.until_ended()
            await nvim.call("nvim_input", "<Esc>")
            await nvim.until("return vim.api.nvim_get_mode().mode == 'n'")
            typed = text.replace("line 10\n", "line 10 before\n")
            both = typed.replace("line 3\n", "line three\nand more\n").replace("line 20\n", "")
            now = both.replace("line 10 before\n", "line 10 before after\nnext\n")
            assert await nvim.lua(TEXT) == now.splitlines()
            assert "not known" not in server.requests[2].results[-1][1]
            states = []
            for _ in range(3):
                await nvim.lua(f"{IN_FRONT} vim.cmd('silent undo')")
                states.append(await nvim.lua(TEXT))
            assert states == [both.splitlines(), typed.splitlines(), text.splitlines()]
            assert file.read_text() == text


async def test_an_edit_of_an_older_text_is_refused_and_not_called_made() -> None:
    async with scene(InOrder([])) as (_, home):
        (home.workspace / "a.txt").write_text("one\ntwo\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.until(LINKED)
            outcomes = await nvim.lua(OLDER, json.dumps([(home.workspace / "a.txt").resolve().as_uri()]))
            assert outcomes == [
                {"applied": False, "failureReason": "somebody has typed in a.txt meanwhile"},
                {"applied": False, "failureReason": "it is not open here any more"},
                {"applied": True},
            ]
            assert await nvim.lua(TEXT) == ["mine!", "two"]
            assert await nvim.lua("return vim.fn.execute('messages')") == ""


async def test_a_file_with_a_swap_file_of_another_neovim_is_changed_without_a_question() -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (_, home):
        file = home.workspace / "a.txt"
        file.write_text("one\ntwo\n")
        async with neovim(home) as left, neovim(home) as right:
            for nvim in (left, right):
                await nvim.lua("vim.o.swapfile, vim.o.directory = true, vim.fn.getcwd() vim.opt.shortmess:append('A')")
                await nvim.command("edit a.txt")
                await nvim.until(LINKED)
            assert [path.name for path in home.workspace.glob("*a.txt.sw*")] != []
            await changed(left)
            assert file.read_text() == "one\n2\n"
            for nvim in (left, right):
                await nvim.command("checktime")
                await nvim.until("return vim.fn.getbufline('a.txt', 2)[1] == '2'")
                assert (await nvim.mode(), await nvim.lua("return vim.bo[vim.fn.bufnr('a.txt')].modified")) == (
                    "n",
                    False,
                )
                assert "W1" not in await nvim.lua("return vim.fn.execute('messages')")


async def test_the_jump_list_and_the_marks_of_others_stand_where_they_did_after_an_edit() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 41))
    change = use("edit", path="a.txt", edits=[{"old": "line 5\n", "new": "line five\nand\nmore\n"}])
    async with scene(InOrder([READ, change, say("Done.")])) as (_, home):
        (home.workspace / "a.txt").write_text(text)
        async with neovim(home, "a.txt") as nvim:
            await nvim.until(LINKED)
            await nvim.lua(PLACED)
            await changed(nvim)
            assert await nvim.lua(STANDS) == ["line 10", "line 20", "line 30", "line 30"]


async def test_a_file_that_other_servers_have_too_is_changed_for_all_of_them() -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (_, home):
        (home.workspace / "a.txt").write_text("one\ntwo\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.until(LINKED)
            await nvim.lua(OTHER, "utf-8", "first")
            await nvim.lua(OTHER, "utf-32", "second")
            await nvim.until("return #vim.lsp.get_clients({ bufnr = vim.fn.bufnr('a.txt') }) == 3")
            await changed(nvim)
            await nvim.until("return _G.known.first == 'one\\n2\\n' and _G.known.second == 'one\\n2\\n'")
            assert (home.workspace / "a.txt").read_text() == "one\n2\n"


TEXT = "return vim.fn.getbufline('a.txt', 1, '$')"
IN_FRONT = "vim.fn.win_gotoid(vim.fn.bufwinid('a.txt'))"

OLDER = """
local uri = vim.json.decode(...)[1]
local apply = require('agent_ls.apply')
local function edit(to, version)
  local start, ends = { line = 0, character = 0 }, { line = 0, character = 3 }
  local edits = { { range = { start = start, ['end'] = ends }, newText = 'mine!' } }
  local change = { textDocument = { uri = to, version = version }, edits = edits }
  return apply.edit({ edit = { documentChanges = { change } } }, 'utf-16')
end
local before = vim.lsp.util.buf_versions[0] or vim.lsp.util.buf_versions[vim.api.nvim_get_current_buf()]
vim.api.nvim_buf_set_lines(0, 0, 1, false, { 'one' })
local now = vim.lsp.util.buf_versions[vim.api.nvim_get_current_buf()]
return { edit(uri, before), edit(uri .. 'x', now), edit(uri, now) }
"""

PLACED = """
vim.cmd("normal! 20Gma")
vim.api.nvim_buf_set_extmark(0, vim.api.nvim_create_namespace('mine'), 29, 2, { id = 7 })
vim.cmd("normal! 10G")
vim.cmd("normal! 30G")
vim.cmd("normal! 10G")
"""
STANDS = """
vim.fn.win_gotoid(vim.fn.bufwinid('a.txt'))
local mark = vim.api.nvim_buf_get_extmark_by_id(0, vim.api.nvim_create_namespace('mine'), 7, {})
local here = vim.api.nvim_get_current_line()
vim.cmd('normal! ' .. vim.keycode('<C-o>'))
return { here, vim.fn.getline("'a"), vim.fn.getline(mark[1] + 1), vim.api.nvim_get_current_line() }
"""

# A server in Lua itself that keeps the text as it is told.
OTHER = """
local encoding, name = ...
_G.known = _G.known or {}
vim.lsp.start({
  name = name, root_dir = vim.fn.getcwd(),
  cmd = function()
    return {
      request = function(method, params, done)
        local answers = {
          initialize = { capabilities = { positionEncoding = encoding, textDocumentSync = 1 } },
        }
        vim.schedule(function() done(nil, answers[method]) end)
        return true, 1
      end,
      notify = function(method, params)
        if method == 'textDocument/didChange' then _G.known[name] = params.contentChanges[1].text end
        return true
      end,
      is_closing = function() return false end,
      terminate = function() end,
    }
  end,
}, { bufnr = vim.fn.bufnr('a.txt') })
"""
