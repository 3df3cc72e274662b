-- Places to go to by a key: what waits for the person, and the file that a line of the transcript is about.

local approvals = require('agent_ls.approvals')
local state = require('agent_ls.state')

local M = {}

--- The window of an ordinary file, if there is one: where a file is shown.
local function file_window()
  local last = state.last_file
  local window = last and vim.api.nvim_buf_is_valid(last) and vim.fn.win_findbuf(last)[1]
  if window then
    return window
  end
  for _, one in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.bo[vim.api.nvim_win_get_buf(one)].buftype == '' and vim.api.nvim_win_get_config(one).relative == '' then
      return one
    end
  end
end

local function show(buf, row)
  local window = vim.fn.win_findbuf(buf)[1] or file_window()
  if not window then
    return
  end
  vim.api.nvim_set_current_win(window)
  vim.cmd("normal! m'")
  if vim.api.nvim_win_get_buf(window) ~= buf then
    vim.api.nvim_win_set_buf(window, buf)
  end
  vim.api.nvim_win_set_cursor(window, { math.min(row + 1, vim.api.nvim_buf_line_count(buf)), 0 })
  vim.cmd('normal! zv')
end

--- To the next (1) or previous (-1) place where something waits, round and round.
---@return string? trouble
function M.pending(step)
  local places, here = {}, nil
  local buf, row = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  for _, held in ipairs(approvals.pending()) do
    local at, line = approvals.place(held)
    if at and line then
      places[#places + 1] = { buf = at, row = line }
      if at == buf and line == row then
        here = #places
      end
    end
  end
  if #places == 0 then
    return 'Nothing that waits for you has a place to go to; `:Agent pending` lists it.'
  end
  local to = here and (here - 1 + step) % #places + 1 or (step > 0 and 1 or #places)
  show(places[to].buf, places[to].row)
end

--- The line that a row of a diff stands for in the new text.
local function line_of(lines, row, first)
  local line
  for at = first, row do
    local text = lines[at]:gsub('^┆ ?', ''):gsub('^┃ ?', '')
    local start = text:match('^@@ %-[%d,]+ %+(%d+)')
    if start then
      line = tonumber(start) - 1
    elseif line and not text:find('^%-') then
      line = line + 1
    end
  end
  return line
end

--- From the transcript to the file that the entry under the cursor is about.
---@return string? trouble
function M.file(conversation)
  local view = require('agent_ls.transcript').view(conversation)
  local row = vim.api.nvim_win_get_cursor(0)[1]
  local id, first
  if view then
    id, first = view:at(row - 1)
  end
  local item = id and conversation.items[id]
  local payload = item and item.payload or {}
  local given = type(payload.input) == 'table' and payload.input or {}
  local path = type(payload.uri) == 'string' and vim.uri_to_fname(payload.uri)
    or type(given.path) == 'string' and vim.fs.joinpath(conversation.root, given.path)
    or nil
  if path and given.path and given.path:sub(1, 1) == '/' and type(payload.uri) ~= 'string' then
    path = given.path
  end
  -- Nothing but an ordinary file: a device or a pipe would be read for ever.
  local stat = path and not path:find('%z') and vim.uv.fs_stat(path)
  if not path or not stat or stat.type ~= 'file' then
    return 'This line is about no file that is there.'
  end
  local lines = vim.api.nvim_buf_get_lines(0, 0, row, false)
  local line = line_of(lines, row, first + 1) or tonumber(given.offset) or 1
  local buf = vim.fn.bufadd(path)
  vim.fn.bufload(buf)
  vim.bo[buf].buflisted = true
  show(buf, math.max(line, 1) - 1)
end

return M
