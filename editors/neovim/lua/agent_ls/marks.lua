-- Cards in texts: virtual lines beneath a line, each card an extmark of its own.
--
-- Owns that nothing moves in a text that somebody is typing in, that no line of a card is longer than its window, and
-- that the cards of one line stand in the order of their numbers. Does not own where a card belongs (approvals).

local card = require('agent_ls.card')
local config = require('agent_ls.config')
local state = require('agent_ls.state')
local text = require('agent_ls.text')
local typing = require('agent_ls.typing')

local M = {}

local namespace = vim.api.nvim_create_namespace('agent_ls_requests')
local drawn = state.drawn

--- Nothing moves there; when they are done, it is drawn.
function M.typing_in(buf)
  return buf == vim.api.nvim_get_current_buf() and typing.now()
end

local function width_of(buf)
  local width
  for _, window in ipairs(vim.fn.win_findbuf(buf)) do
    local info = vim.fn.getwininfo(window)[1]
    width = math.min(width or math.huge, info.width - info.textoff)
  end
  return math.max(20, width or 80)
end

local function has_sign_column(buf)
  return vim.iter(vim.fn.win_findbuf(buf)):all(function(window)
    local wanted = vim.wo[window].signcolumn
    return wanted:find('^yes') ~= nil or (wanted == 'number' and vim.wo[window].number)
  end)
end

--- The card as virtual lines, none longer than the window; and whether it is all of it.
local function virtual_lines(request, width)
  local lines = card.lines(request)
  local limit = config.options.card_lines
  local cut = #lines > limit
  if cut then
    local foot = { ('… %d more lines: :Agent show %d'):format(#lines - limit, request.number), kind = 'foot' }
    lines = vim.list_extend(vim.list_slice(lines, 1, limit - 1), { foot })
  end
  local virtual = {}
  for place, line in ipairs(lines) do
    for at, piece in ipairs(text.wrapped((line[1]:gsub('\t', '    ')), width - 3)) do
      local edge = (place == 1 and at == 1) and '╭ ' or place == #lines and '╰ ' or '│ '
      virtual[#virtual + 1] = { { edge, 'AgentLsCard' }, { piece, card.HIGHLIGHT[line.kind] } }
    end
  end
  return virtual, not cut
end

function M.erase(id)
  local mark = drawn[id]
  if mark and not M.typing_in(mark.buf) then
    drawn[id] = nil
    pcall(vim.api.nvim_buf_del_extmark, mark.buf, namespace, mark.mark)
  end
end

local function set(held, buf, row)
  local request, width = held.request, width_of(buf)
  local lines, whole = virtual_lines(request, width)
  local mark = vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {
    -- Only where there is a sign column: the first sign would open it and move the text to the right.
    sign_text = has_sign_column(buf) and '┃' or nil,
    sign_hl_group = 'AgentLsCard',
    number_hl_group = 'AgentLsCard',
    virt_lines = lines,
    priority = 200,
  })
  drawn[request.id] = {
    buf = buf,
    mark = mark,
    number = request.number,
    digest = request.digest,
    width = width,
    whole = whole,
    count = #lines,
  }
end

--- The cards beneath a row, as Neovim shows them from top to bottom.
---@return agent_ls.Drawn[]
local function beneath(buf, row)
  local by_mark, found = {}, {}
  for _, one in pairs(drawn) do
    if one.buf == buf then
      by_mark[one.mark] = one
    end
  end
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, namespace, { row, 0 }, { row, -1 }, {})) do
    found[#found + 1] = by_mark[mark[1]]
  end
  return found
end

--- Of several marks at one place Neovim shows the first that was set, and then the others, the newest one first.
function M.put(held, buf, row)
  local others = {}
  for _, one in ipairs(beneath(buf, row)) do
    for id, other in pairs(drawn) do
      if other == one and state.requests[id] then
        others[#others + 1] = state.requests[id]
        M.erase(id)
      end
    end
  end
  others[#others + 1] = held
  table.sort(others, function(one, other)
    return one.request.number < other.request.number
  end)
  set(others[1], buf, row)
  for place = #others, 2, -1 do
    set(others[place], buf, row)
  end
end

--- Cards that are no more as they were drawn are taken away.
function M.sweep()
  for id, mark in pairs(drawn) do
    local held = state.requests[id]
    local fits = held and held.request.digest == mark.digest and vim.api.nvim_buf_is_loaded(mark.buf)
    if not fits or width_of(mark.buf) ~= mark.width then
      M.erase(id)
    end
  end
end

--- Where the card of a request stands.
---@param held agent_ls.Held
---@return integer? buf
---@return integer? row
---@return agent_ls.Drawn? mark
function M.of(held)
  local mark = drawn[held.request.id]
  local at = mark
    and vim.api.nvim_buf_is_loaded(mark.buf)
    and vim.api.nvim_buf_get_extmark_by_id(mark.buf, namespace, mark.mark, {})
  if at and at[1] then
    return mark.buf, at[1], mark
  end
end

--- The same, if the card is shown whole and as it is now, and how many virtual lines there are down to its last one.
---@param held agent_ls.Held
---@return integer? buf
---@return integer? row
---@return integer? count
function M.whole(held)
  local buf, row, mark = M.of(held)
  if not buf or not mark.whole or mark.digest ~= held.request.digest then
    return nil
  end
  local count = 0
  for _, other in ipairs(beneath(buf, row)) do
    count = count + other.count
    if other == mark then
      break
    end
  end
  return buf, row, count
end

return M
