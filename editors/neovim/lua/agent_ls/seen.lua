-- Which cards have been on the screen, and since when: an answer counts only for what could be read.
--
-- Owns what that means: every line of the card, in a window of this tab page, in no closed fold, above the lower edge.
-- One that is longer than its window has been seen when it was scrolled through.

local state = require('agent_ls.state')

local M = {}

--- Windows of this tab page that show a buffer.
---@return integer[]
function M.windows(buf)
  return vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_buf(window) == buf
  end, vim.api.nvim_tabpage_list_wins(0))
end

local function is_folded(window, row)
  return vim.api.nvim_win_call(window, function()
    return vim.fn.foldclosed(row + 1) > 0
  end)
end

local function rows_of(window)
  return vim.fn.line('w0', window) - 1, vim.fn.line('w$', window) - 1
end

--- Whether virtual lines beneath a row can be seen to the last of them.
---@param count integer
function M.beneath(buf, row, count)
  return vim.iter(M.windows(buf)):any(function(window)
    local top, bottom = rows_of(window)
    if row < top or row > bottom or is_folded(window, row) then
      return false
    end
    local above = vim.api.nvim_win_text_height(window, { start_row = top, end_row = row }).all
    local room = vim.api.nvim_win_get_height(window) - (vim.wo[window].winbar ~= '' and 1 or 0)
    return above + count <= room
  end)
end

--- How many of a text's first lines have been seen by now, when so many had been before.
local function read_to(window, row, count, before)
  local top, bottom = rows_of(window)
  local from, to = math.max(row, top), math.min(row + count - 1, bottom)
  if from > to or from - row > before then
    return before
  end
  for at = from, to do
    if is_folded(window, at) then
      to = at - 1
      break
    end
  end
  return math.max(before, to - row + 1)
end

--- A card that stands in a buffer as text: noted how far it has been read.
---@param held agent_ls.Held
function M.text(held, buf, row, count)
  for _, window in ipairs(M.windows(buf)) do
    held.read = read_to(window, row, count, held.read or 0)
  end
  return (held.read or 0) >= count
end

--- Notes what is to be seen just now.
---@param mark_of fun(held: agent_ls.Held): integer?, integer?, integer? buffer, row, count of virtual lines
---@param rows_of_card fun(held: agent_ls.Held): integer?, integer?, integer? buffer, row, count of lines
function M.look(mark_of, rows_of_card)
  for _, held in pairs(state.requests) do
    if not held.since then
      local buf, row, count = mark_of(held)
      local seen = buf ~= nil and M.beneath(buf, row, count)
      if not seen then
        buf, row, count = rows_of_card(held)
        seen = buf ~= nil and count > 1 and M.text(held, buf, row, count)
      end
      held.since = seen and vim.uv.now() or nil
    end
  end
end

return M
