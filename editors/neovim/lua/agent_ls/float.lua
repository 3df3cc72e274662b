-- Questions and plans in a floating window, opened because the person asked for it.
--
-- Owns the window and its keys; each is one answer, and closing it is none. Does not own which answers count.

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

local function open(held, lines, filetype, help)
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
  vim.wo[window].wrap, vim.wo[window].linebreak = true, true
  held.since = held.since or vim.uv.now()
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buf, desc = 'Close; nothing is decided', nowait = true })
  return buf, window
end

--- Answers the request as it was when it was opened, and closes the window when the answer is taken.
local function answer(held, digest, window, said)
  local now = state.requests[held.request.id]
  if not now or now.request.digest ~= digest then
    closed(window)
    return client.say(('#%d is not as it was shown any more; look at it again.'):format(held.request.number))
  end
  approvals.answer(now, said, function()
    closed(window)
  end)
end

--- A command line that the person finishes: they have pressed the key for it.
local function say_more(window, line)
  closed(window)
  vim.api.nvim_feedkeys(vim.keycode(line), 'n', false)
end

---@param held agent_ls.Held
function M.question(held)
  local request, digest = held.request, held.request.digest
  local asked = request.questions or {}
  local lines = vim.tbl_map(function(line)
    return line[1]
  end, card.body(request))
  local one = #asked <= 1 and not (asked[1] and asked[1].multi)
  local offered = asked[1] and #(asked[1].options or {}) > 0 and asked[1].options or request.options or {}
  local picks = one and math.min(9, #offered) or 0
  local help = (picks > 0 and ('1-%d picks · '):format(picks) or '') .. 'i own words · d refuses · q closes'
  local buf, window = open(held, lines, '', help)
  local function key(name, desc, work)
    vim.keymap.set('n', name, work, { buffer = buf, desc = desc, nowait = true })
  end
  for place = 1, picks do
    key(tostring(place), 'Pick this option', function()
      local answers, option = card.answers(request, tostring(place))
      answer(held, digest, window, { decision = 'answer', answers = answers, optionId = option })
    end)
  end
  key('i', 'Answer in your own words', function()
    say_more(window, (':Agent answer %d '):format(request.number))
  end)
  key('d', 'Refuse to answer', function()
    say_more(window, (':Agent deny %d '):format(request.number))
  end)
end

---@param held agent_ls.Held
function M.plan(held)
  local request, digest = held.request, held.request.digest
  local lines = vim.tbl_map(function(line)
    return line[1]
  end, card.plan(request))
  local help = 'a accepts · e accepts, edits unasked · c changes · d refuses · q closes'
  local buf, window = open(held, lines, 'markdown', help)
  local function key(name, desc, work)
    vim.keymap.set('n', name, work, { buffer = buf, desc = desc, nowait = true })
  end
  key('a', 'Accept the plan', function()
    answer(held, digest, window, { decision = 'allow', optionId = 'accept' })
  end)
  key('e', 'Accept the plan, edits without asking', function()
    answer(held, digest, window, { decision = 'allow', optionId = 'accept_edits' })
  end)
  key('c', 'Change the plan, then accept it', function()
    closed(window)
    require('agent_ls.edit').open(held)
  end)
  key('d', 'Refuse the plan', function()
    say_more(window, (':Agent deny %d '):format(request.number))
  end)
end

return M
