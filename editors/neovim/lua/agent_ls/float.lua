-- What is answered in a floating window, opened because the person asked for it; and plans there.
--
-- Owns the window and that an answer goes to the request as it was when the window was opened; closing it is none. Does
-- not own which answers count, nor the keys of questions (question).

local approvals = require('agent_ls.approvals')
local card = require('agent_ls.card')
local client = require('agent_ls.client')
local state = require('agent_ls.state')

local M = {}

local PAD = 2

local function closed(window)
  if vim.api.nvim_win_is_valid(window) then
    vim.api.nvim_win_close(window, true)
  end
end

--- The window with these lines, the cursor in it.
---@param held agent_ls.Held
---@return integer buf
---@return integer window
function M.open(held, lines, filetype, help)
  local width = 0
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  width = math.max(20, math.min(math.max(width, #help) + PAD, vim.o.columns - 6, 100))
  local rows = 0
  for _, line in ipairs(lines) do
    rows = rows + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  local height = math.max(1, math.min(rows, vim.o.lines - 8))
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable, vim.bo[buf].bufhidden, vim.bo[buf].filetype = false, 'wipe', filetype
  local window = vim.api.nvim_open_win(buf, true, {
    relative = 'editor',
    row = math.floor((vim.o.lines - height) / 2) - 1,
    col = math.floor((vim.o.columns - width) / 2),
    width = width,
    height = height,
    border = 'rounded',
    style = 'minimal',
    title = (' #%d '):format(held.request.number),
    footer = (' %s '):format(help),
    footer_pos = 'right',
  })
  -- Nothing of it is hidden, whatever highlights it.
  vim.wo[window].wrap, vim.wo[window].linebreak, vim.wo[window].conceallevel = true, true, 0
  held.since = held.since or vim.uv.now()
  require('agent_ls.leave').by_key(buf, 'Close; nothing is decided')
  return buf, window
end

--- Answers the request as it was when the window was opened, and closes it when the answer is taken.
---@param held agent_ls.Held
function M.answer(held, window, said)
  -- One that changes is held anew (approvals); this one stays as it was shown.
  local now = state.requests[held.request.id]
  if not now or now.request.digest ~= held.request.digest then
    closed(window)
    return client.say(('#%d is not as it was shown any more; look at it again.'):format(held.request.number))
  end
  approvals.answer(now, said, function()
    closed(window)
  end)
end

--- A command line that the person finishes: they have pressed the key for it.
function M.say_more(window, line)
  closed(window)
  vim.api.nvim_feedkeys(line, 'n', true)
end

---@param held agent_ls.Held
function M.plan(held)
  local request = held.request
  local lines = vim.tbl_map(function(line)
    return line[1]
  end, card.plan(request))
  local help = 'a accepts · e accepts, edits unasked · c changes · d refuses · q closes'
  local buf, window = M.open(held, lines, 'markdown', help)
  local function key(name, desc, work)
    vim.keymap.set('n', name, work, { buffer = buf, desc = desc, nowait = true })
  end
  key('a', 'Accept the plan', function()
    M.answer(held, window, { decision = 'allow', optionId = 'accept' })
  end)
  key('e', 'Accept the plan, edits without asking', function()
    M.answer(held, window, { decision = 'allow', optionId = 'accept_edits' })
  end)
  key('c', 'Change the plan, then accept it', function()
    closed(window)
    require('agent_ls.edit').open(held)
  end)
  key('d', 'Refuse the plan', function()
    M.say_more(window, (':Agent deny %d '):format(request.number))
  end)
end

return M
