"""A real Neovim with the plugin, driven over its own RPC while everything else of the test goes on.

    async with neovim(home) as nvim:
        await nvim.agent("ask Say hello.")
        await nvim.until_shows("Hello!")

Owns the process and waiting with a limit: a condition is looked at inside Neovim, between its own events.
"""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any, Final, TypeVar

import anyio
import msgpack
from anyio.abc import Process

from agent_ls.testing.editor import LIMIT_S
from agent_ls.testing.home import Home

BIN: Final = Path(sys.executable).parent
PLUGIN: Final = Path(__file__).parents[3] / "editors" / "neovim"

# What a person would be told is kept.
_BEFORE: Final = """
_G.notices, _G.fired, _G.stock = {}, {}, vim.notify
vim.notify = function(said) table.insert(_G.notices, said) end
vim.opt.swapfile = false
vim.api.nvim_create_autocmd('User', { pattern = 'AgentLs*', callback = function(event)
  table.insert(_G.fired, { event.match, event.data })
end })
"""

_LOADED: Final = """
vim.opt.runtimepath:append(...)
vim.cmd('runtime plugin/agent_ls.lua')
"""

_UNTIL: Final = """
local code, limit = ...
local holds = assert(loadstring(code))
local value
vim.wait(limit, function() value = holds() return value end, 10)
return value or false
"""

_SHOWN: Final = """
for _, buf in ipairs(vim.api.nvim_list_bufs()) do
  if vim.api.nvim_buf_get_name(buf):find('^agent%-ls://conversation/') then
    return vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  end
end
return {}
"""

CARDS: Final = """
local space, found = vim.api.nvim_get_namespaces().agent_ls_requests, {}
for _, buf in ipairs(space and vim.api.nvim_list_bufs() or {}) do
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, space, 0, -1, { details = true })) do
    local lines = {}
    for _, line in ipairs(mark[4].virt_lines) do
      local pieces = vim.tbl_map(function(piece) return piece[1] end, line)
      table.insert(lines, table.concat(pieces))
    end
    local name = vim.fs.basename(vim.api.nvim_buf_get_name(buf))
    table.insert(found, { name, mark[2], mark[4].sign_text or mark[4].number_hl_group, lines })
  end
end
return found
"""


class RpcError(Exception):
    pass


class Nvim:
    """`kill` is kill -9."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._replies: dict[int, tuple[Any, Any]] = {}
        self._came = anyio.Event()
        self._keys = count(1)
        self._over = False

    async def read(self) -> None:
        """Runs beside the test, until Neovim ends."""
        assert self.process.stdout is not None
        unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, unicode_errors="surrogateescape")
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                unpacker.feed(await self.process.stdout.receive())
                for message in unpacker:
                    if message[0] == 1:
                        self._replies[message[1]] = (message[2], message[3])
                self._wake()
        self._over = True
        self._wake()

    async def call(self, method: str, *arguments: Any) -> Any:
        assert self.process.stdin is not None
        key = next(self._keys)
        with anyio.fail_after(LIMIT_S + 5):
            await self.process.stdin.send(msgpack.packb([0, key, method, list(arguments)]))
            while key not in self._replies:
                assert not self._over, f"Neovim ended during {method}"
                await self._came.wait()
        error, result = self._replies.pop(key)
        if error is not None:
            raise RpcError(f"{method}: {error}")
        return result

    async def lua(self, code: str, *arguments: Any) -> Any:
        return await self.call("nvim_exec_lua", code, list(arguments))

    async def command(self, line: str) -> None:
        await self.call("nvim_command", line)

    async def agent(self, line: str = "") -> None:
        await self.command(f"Agent {line}".rstrip())

    async def until(self, code: str) -> Any:
        """The first true value of `return …`."""
        value = await self.lua(_UNTIL, code, int(LIMIT_S * 1000))
        if not value:
            shown = "\n".join(await self.shown())
            told, said = await self.notices(), await self.lua("return vim.fn.execute('messages')")
            raise AssertionError(f"waited in vain for: {code}\nnotices: {told}\nmessages: {said}\ntranscript:\n{shown}")
        return value

    async def until_shows(self, *texts: str) -> list[str]:
        """Until the transcript holds each of these texts; its lines."""
        for text in texts:
            await self.until(
                "local lines = (function() " + _SHOWN + " end)()\n"
                f"return table.concat(lines, '\\n'):find({_quoted(text)}, 1, true)"
            )
        return await self.shown()

    async def until_asked(self, count: int = 1, *, above: int = 0) -> list[int]:
        """Until so many requests with a number above that one wait; their numbers."""
        numbers: list[int] = await self.until(
            "local found = vim.tbl_map(function(held) return held.request.number end, "
            f"require('agent_ls.approvals').pending()) found = vim.tbl_filter(function(number) "
            f"return number > {above} end, found) return #found >= {count} and found"
        )
        return numbers

    async def until_nothing_waits(self) -> None:
        await self.until("return #require('agent_ls.approvals').pending() == 0")

    async def until_ended(self, runs: int = 1) -> None:
        """Until so many runs of this window's conversations were seen to end."""
        await self.until(
            "local ended = vim.tbl_filter(function(one) return one[1] == 'AgentLsEnded' end, _G.fired) "
            f"return #ended >= {runs}"
        )

    async def answer(self, line: str) -> None:
        """Says it until it is taken: in the first moment after a card came it is not."""
        numbers = [word for word in line.split() if word.isdecimal()]
        waits = f"require('agent_ls.approvals').find({''.join(numbers[:1])})"
        await self.until(
            f"if not {waits} then return true end vim.cmd({_quoted('Agent ' + line)}) "
            f"vim.wait(100, function() return not {waits} end, 10) return not {waits}"
        )

    async def shown(self) -> list[str]:
        lines: list[str] = await self.lua(_SHOWN)
        return lines

    async def cards(self) -> list[Any]:
        """Cards in the text: file, row, sign, lines."""
        found: list[Any] = await self.lua(CARDS)
        return found

    async def notices(self) -> list[str]:
        told: list[str] = await self.lua("return _G.notices")
        return told

    async def mode(self) -> str:
        return str((await self.call("nvim_get_mode"))["mode"])

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()

    def _wake(self) -> None:
        came, self._came = self._came, anyio.Event()
        came.set()


@asynccontextmanager
async def neovim(
    home: Home, *files: str, columns: int = 100, lines: int = 40, init: str = "", **environment: str
) -> AsyncIterator[Nvim]:
    """In the home's workspace, with these files of it open, the last one in front.

    `init`: what a person has in their init.lua, to load the plugin in their own way; without it, it is loaded.
    """
    begins = ["--clean"]
    if init:
        (home.root / "init.lua").write_text(init)
        begins = ["-u", os.fspath(home.root / "init.lua"), "-i", "NONE"]
    more = {"AGENT_LS_CMD": os.fspath(BIN / "agent-ls"), **environment}
    async with embedded(Nvim, home, *begins, **more) as nvim:
        await nvim.lua(_BEFORE)
        if not init:
            await nvim.lua(_LOADED, os.fspath(PLUGIN))
        await nvim.command(f"set columns={columns} lines={lines}")
        for file in files:
            await nvim.command(f"edit {file}")
        yield nvim


N = TypeVar("N", bound=Nvim)


@asynccontextmanager
async def embedded(kind: type[N], home: Home, *begins: str, **more: str) -> AsyncIterator[N]:
    """One in the home's workspace, killed at the end; a clean one unless told how it begins. `more` is environment."""
    environment = {**home.env, "NVIM_LOG_FILE": "/dev/null", **more}
    arguments = [BIN / "nvim", *(begins or ("--clean",)), "--headless", "--embed"]
    async with (
        await anyio.open_process(
            arguments, env=environment, cwd=home.workspace, stdin=PIPE, stdout=PIPE, stderr=DEVNULL
        ) as process,
        anyio.create_task_group() as tasks,
    ):
        nvim = kind(process)
        tasks.start_soon(nvim.read)
        try:
            yield nvim
        finally:
            with anyio.CancelScope(shield=True):
                if process.returncode is None:
                    process.kill()
                await process.wait()
            tasks.cancel_scope.cancel()


def _quoted(text: str) -> str:
    body = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{body}'"
