"""A buffer with unsaved text over a kill -9 of the daemon, in a real Neovim."""

import pytest

from agent_ls.testing.model_scenario import ByHistory, say, use
from tests.editors.neovim.nvim import neovim
from tests.scene import scene

pytestmark = pytest.mark.anyio

TEXT = "one\ntwo\nthree\n"
READ = use("read", path="a.txt")
EDIT = use("edit", path="a.txt", edits=[{"old": "two", "new": "2"}, {"old": "😋 mine", "new": "😋 yours"}])
BUFFER = "return vim.fn.getbufline('a.txt', 1, '$')"
IN_FRONT = "vim.fn.win_gotoid(vim.fn.bufwinid('a.txt'))"


async def test_an_edit_that_is_allowed_after_it_is_one_undo_step_in_the_buffer_and_the_disk_is_untouched() -> None:
    async with scene(ByHistory([READ, EDIT, say("Done.")])) as (server, home):
        file = home.workspace / "a.txt"
        file.write_text(TEXT)
        async with neovim(home, "a.txt") as nvim:
            await nvim.until("return next(vim.lsp.get_clients({ bufnr = vim.fn.bufnr('a.txt') })) ~= nil")
            await nvim.command("call setline(1, '😋 mine')")
            await nvim.agent("ask Change it")
            (edit,) = await nvim.until_asked()
            boot = await nvim.lua("return select(2, next(require('agent_ls.state').links)).hello.bootId")
            await home.kill9()
            await nvim.until(f"return select(2, next(require('agent_ls.state').links)).hello.bootId ~= '{boot}'")
            await nvim.answer(f"approve {edit}")
            await nvim.until_ended()
            await nvim.until_shows("Done.")
            assert await nvim.lua(BUFFER) == ["😋 yours", "2", "three"]
            assert await nvim.lua("return vim.bo[vim.fn.bufnr('a.txt')].modified") is True
            assert file.read_text() == TEXT
            await nvim.lua(f"{IN_FRONT} vim.cmd('silent undo')")
            assert await nvim.lua(BUFFER) == ["😋 mine", "two", "three"]
        assert [request.steps for request in server.requests] == [0, 1, 2]
