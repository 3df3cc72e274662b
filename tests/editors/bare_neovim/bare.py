"""A real Neovim without our plugin: its own LSP client, with `agent-ls connect` as one more server.

Owns the process and what a person does with stock keys. Waiting is that of the window with the plugin.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from agent_ls.testing.home import Home
from tests.editors.neovim.nvim import BIN, Nvim, embedded

# What `docs/any-editor.md` tells a person to put into their configuration, for every file.
_SETUP: Final = """
_G.notices = {}
vim.notify = function(said) table.insert(_G.notices, said) end
vim.opt.swapfile = false
vim.lsp.config('agent_ls', { cmd = { ..., 'connect' }, root_markers = { '.git' } })
vim.lsp.enable('agent_ls')
"""

_MARKS: Final = """
local found = {}
for _, mark in ipairs(vim.diagnostic.get()) do
  local name = vim.fs.basename(vim.api.nvim_buf_get_name(mark.bufnr))
  table.insert(found, { name, mark.lnum, mark.source, mark.message })
end
return found
"""


class BareNvim(Nvim):
    async def marks(self) -> list[Any]:
        """Diagnostics: file, row, source, message."""
        found: list[Any] = await self.lua(_MARKS)
        return found

    async def until_marked(self, count: int = 1) -> list[Any]:
        await self.until(f"return #vim.diagnostic.get() == {count}")
        return await self.marks()

    async def choose(self, title: str) -> None:
        """The stock code action on the line of the cursor, until it is taken and everything that stood is gone."""
        await self.until(
            "vim.lsp.buf.code_action({ apply = true, filter = function(action) "
            f"return action.title == '{title}' end }}) "
            "return vim.wait(200, function() return #vim.diagnostic.get() == 0 end, 10)"
        )

    async def act(self, title: str) -> None:
        """The stock code action of that title, once."""
        chosen = f"filter = function(action) return action.title == '{title}' end"
        await self.lua(f"vim.lsp.buf.code_action({{ apply = true, {chosen} }})")

    async def attached(self) -> None:
        """Until the buffer in front is known to a server."""
        await self.until("local link = vim.lsp.get_clients({ bufnr = 0 })[1] return link and link.initialized")

    async def shows(self, name: str, text: str) -> None:
        """Until the buffer of that file holds a line with the text."""
        await self.until(
            f"return string.find(table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr([[{name}]]), 0, -1, false), "
            f"'\\n'), [[{text}]], 1, true) ~= nil"
        )

    async def hovered(self) -> str:
        """The stock hover (K) on the line of the cursor."""
        await self.lua("vim.lsp.buf.hover()")
        await self.until("return vim.b.lsp_floating_preview ~= nil")
        lines: list[str] = await self.lua(
            "return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(vim.b.lsp_floating_preview), 0, -1, false)"
        )
        return "\n".join(lines)


@asynccontextmanager
async def bare_neovim(home: Home, *files: str) -> AsyncIterator[BareNvim]:
    """In the home's workspace, with these files open, the last one in front and known to the daemon."""
    async with embedded(BareNvim, home, XDG_STATE_HOME=os.fspath(home.root / "nvim")) as nvim:
        await nvim.lua(_SETUP, os.fspath(BIN / "agent-ls"))
        for file in files:
            await nvim.command(f"edit {file}")
        await nvim.attached()
        yield nvim
