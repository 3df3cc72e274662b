"""Long transcripts open at once, and thirty updates a second leave a reader where they are.

Owns that both are measured so that a busy machine changes nothing: the first by the time of the processor, the second
by going on until a second with thirty updates was seen.
"""

import pytest

from agent_ls.testing.model_scenario import Gate, InOrder, Say, Wait, reply
from tests.editors.neovim.nvim import neovim
from tests.scene import scene

pytestmark = pytest.mark.anyio

PIECES = 800
UPDATES, SECOND_MS = 30, 1000


async def test_a_transcript_of_ten_thousand_lines_opens_in_less_than_150_ms_of_the_processor() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        await nvim.call("nvim_ui_attach", 160, 50, {"rgb": True})
        took = []
        for number in range(3):
            used, count, folded = await nvim.lua(LONG, f"long{number}")
            assert (count > 10_000, folded) == (True, 2)
            took.append(used)
        # Measured at 35 ms. The least of three: the others paid for what else the machine does.
        assert min(took) < 150, took


async def test_thirty_updates_in_a_second_move_neither_the_cursor_nor_the_view_of_a_reader() -> None:
    gates = [Gate() for _ in range(PIECES)]
    steps = [step for number, gate in enumerate(gates) for step in (Wait(gate), Say(f"line {number}\n"))]
    before = "".join(f"before {number}\n" for number in range(100))
    async with scene(InOrder([reply(Say(before), *steps)])) as (_, home), neovim(home) as nvim:
        await nvim.call("nvim_ui_attach", 160, 50, {"rgb": True})
        await nvim.agent("ask Count")
        await nvim.until_shows("before 99")
        await nvim.lua(READS)
        fastest = 0
        for number, gate in enumerate(gates):
            # The next piece comes when the one before was drawn: no clock but that of the daemon.
            gate.open()
            fastest = await nvim.until(f"return #_G.drawn > {number} and _G.fastest()")
            if fastest >= UPDATES:
                break
        for gate in gates:
            gate.open()
        await nvim.until_ended()
        moved, used = await nvim.lua("return { _G.moved, _G.used() }")
        assert (fastest, moved) == (UPDATES, [])
        # Each leaves most of its thirtieth of a second to whoever types.
        assert used < SECOND_MS / UPDATES / 2, f"an update takes {used:.1f} ms of the processor"


async def test_thirty_frames_in_a_row_leave_the_cursor_and_the_view_of_a_reader_where_they_are() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        before, after, rows, follows = await nvim.lua(FRAMES)
        assert before == after
        assert rows > 300
        assert follows is True


PROCESSOR = """
local function used_ms()
  local used = vim.uv.getrusage()
  return (used.utime.sec + used.stime.sec) * 1e3 + (used.utime.usec + used.stime.usec) / 1e3
end
"""

# A reader stands in the middle of the transcript. Each update is noted with its time; where the reader then is, too.
READS = f"""{PROCESSOR}
local window = require('agent_ls.window').windows()[1]
local buf = vim.api.nvim_win_get_buf(window)
vim.api.nvim_win_set_cursor(window, {{ 50, 3 }})
vim.cmd('redraw')
local function stands()
  return vim.api.nvim_win_call(window, function()
    local view = vim.fn.winsaveview()
    return table.concat({{ view.topline, view.lnum, view.col }}, ':')
  end)
end
local before, began = stands(), used_ms()
_G.drawn, _G.moved = {{}}, {{}}
vim.api.nvim_buf_attach(buf, false, {{ on_lines = function()
  table.insert(_G.drawn, vim.uv.hrtime() / 1e6)
  vim.schedule(function()
    vim.cmd('redraw')
    local now = stands()
    if now ~= before then table.insert(_G.moved, now) end
  end)
end }})
-- Thirty, once there was a second in which so many came.
_G.fastest = function()
  local count = #_G.drawn
  local first = _G.drawn[count - {UPDATES - 1}]
  return first and _G.drawn[count] - first <= {SECOND_MS} and {UPDATES} or 1
end
_G.used = function() return (used_ms() - began) / #_G.drawn end
"""

# A reader stands in the middle while a second of frames comes; then at the end, and is taken along.
FRAMES = """
local conversation = require('agent_ls.conversation')
local about = { id = 'one', status = 'running', title = 'One' }
local one = {
  id = 'one', root = vim.fn.getcwd(), about = about, seq = 0, items = {}, requests = {}, queue = {}, streams = {},
}
require('agent_ls.state').conversations.one = one
local said = { type = 'text', text = ('a line\\n'):rep(200) }
conversation.taken(one, {
  conversation = about, requests = {}, queue = {}, streams = {}, seq = 1, snapshot = true,
  items = {
    { id = 'i1', ord = 1, kind = 'user_message', status = 'completed', payload = { content = { said } } },
  },
})
require('agent_ls').load()
require('agent_ls.window').open(one)
local window = require('agent_ls.window').windows()[1]
local function stands()
  return vim.api.nvim_win_call(window, function()
    local view = vim.fn.winsaveview()
    return { view.topline, view.lnum, view.col }
  end)
end
local function frames(from)
  for _ = from, from + 29 do
    local frame = { conversationId = 'one', itemId = 'i2', phase = 'answering' }
    frame.delta = 'word\\nand more\\n\\nof it'
    require('agent_ls.in_flight').on_stream(frame)
    vim.wait(5, function() return false end)
    vim.cmd('redraw')
  end
end
vim.api.nvim_win_set_cursor(window, { 100, 3 })
vim.cmd('redraw')
local before = stands()
frames(1)
local after = stands()
local buf = vim.api.nvim_win_get_buf(window)
vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(buf), 0 })
frames(31)
local rows = vim.api.nvim_buf_line_count(buf)
return { before, after, rows, vim.api.nvim_win_get_cursor(window)[1] == rows }
"""

LONG = (
    PROCESSOR
    + """
local conversation = require('agent_ls.conversation')
local items, output = {}, {}
for line = 1, 9 do output[line] = 'line ' .. line end
for ord = 1, 1000, 2 do
  items[ord] = {
    id = 'i' .. ord, ord = ord, kind = 'assistant_message', status = 'completed',
    payload = { text = ('Some **words** of `it`.\\n'):rep(10) },
  }
  items[ord + 1] = {
    id = 'i' .. ord + 1, ord = ord + 1, kind = 'command', status = 'completed',
    payload = {
      tool = 'shell', input = { command = 'make ' .. ord }, state = 'finished',
      result = { status = 'ok', output = table.concat(output, '\\n'), exitCode = 0 },
    },
  }
end
local about = { id = ..., status = 'idle', title = 'Long' }
local long = {
  id = about.id, root = vim.fn.getcwd(), about = about, seq = 0, items = {}, requests = {}, queue = {}, streams = {},
}
local began = used_ms()
conversation.taken(long, {
  conversation = about, items = items, requests = {}, queue = {}, streams = {}, seq = 1, snapshot = true,
})
require('agent_ls').load()
require('agent_ls.window').open(long)
vim.cmd('redraw')
local took = used_ms() - began
local window = require('agent_ls.window').windows()[1]
local buf = vim.api.nvim_win_get_buf(window)
local folded = vim.api.nvim_win_call(window, function()
  local last = vim.fn.line('$')
  return vim.fn.foldlevel(last) + (vim.fn.foldclosed(last) > 0 and 1 or 0)
end)
return { took, vim.api.nvim_buf_line_count(buf), folded }
"""
)
