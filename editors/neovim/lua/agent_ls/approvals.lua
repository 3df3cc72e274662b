-- What waits for the person: cards in the text, and their answers.
--
-- Owns that a card never takes a key or moves the text one is typing in, that an answer goes to what was on the screen,
-- and that one given in the first moment after a card came is not taken. Does not own which answers count (the daemon).

local card = require('agent_ls.card')
local client = require('agent_ls.client')
local config = require('agent_ls.config')
local state = require('agent_ls.state')
local text = require('agent_ls.text')

local M = {}

local GRACE_MS = 400
local namespace = vim.api.nvim_create_namespace('agent_ls_requests')

--- `agent/request/changed`: all that waits in this workspace.
function M.on_changed(link, params)
  state.pending = params.pending
  local now = {}
  for _, request in ipairs(params.requests) do
    now[request.id] = true
    local held = state.requests[request.id]
    if held and held.request.digest == request.digest then
      held.request, held.root = request, link.root
    else
      state.requests[request.id] = { request = request, root = link.root }
      require('agent_ls.status').fire('AgentLsRequest', {
        number = request.number,
        title = request.title,
        conversation = request.conversationId,
      })
    end
  end
  for id, held in pairs(state.requests) do
    if held.root == link.root and not now[id] then
      state.requests[id] = nil
    end
  end
  M.draw()
  require('agent_ls.status').changed()
end

--- Oldest first.
function M.pending()
  local found = vim.tbl_values(state.requests)
  table.sort(found, function(one, other)
    return one.request.number < other.request.number
  end)
  return found
end

local function transcript_rows(held)
  local conversation = state.conversations[held.request.conversationId]
  local view = conversation and require('agent_ls.transcript').view(conversation)
  if view then
    local row, count = view:rows(held.request.itemId)
    return view.buf, row, count
  end
end

--- The buffer and row where a card belongs; nil where the transcript that is on the screen shows it.
local function target(held)
  local shown = held.request.card
  shown = type(shown) == 'table' and shown or {}
  local buf = shown.type == 'edit' and shown.uri and require('agent_ls.documents').loaded(shown.uri)
  if buf then
    local row = card.first_changed(shown.diff or '')
    return buf, math.min(row, vim.api.nvim_buf_line_count(buf) - 1)
  end
  local beside, row = transcript_rows(held)
  if beside and row and #vim.fn.win_findbuf(beside) > 0 then
    return nil
  end
  buf = state.last_file
  if buf and vim.api.nvim_buf_is_loaded(buf) and config.root(buf) == held.root then
    local window = vim.fn.win_findbuf(buf)[1]
    return buf, window and vim.api.nvim_win_get_cursor(window)[1] - 1 or 0
  end
end

--- Nothing moves in the text that somebody is typing in; when they are done, it is drawn.
local function typing_in(buf)
  return buf == vim.api.nvim_get_current_buf() and vim.api.nvim_get_mode().mode:find('^[iRs]') ~= nil
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

local drawn = state.drawn

local function erase(id)
  local mark = drawn[id]
  if mark and not typing_in(mark.buf) then
    drawn[id] = nil
    pcall(vim.api.nvim_buf_del_extmark, mark.buf, namespace, mark.mark)
  end
end

local function put(held, buf, row)
  local request = held.request
  local lines, whole = virtual_lines(request, width_of(buf))
  local mark = vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {
    -- Only where there is a sign column: the first sign would open it and move the text to the right.
    sign_text = has_sign_column(buf) and '┃' or nil,
    sign_hl_group = 'AgentLsCard',
    number_hl_group = 'AgentLsCard',
    virt_lines = lines,
    priority = 200,
  })
  drawn[request.id] = { buf = buf, mark = mark, digest = request.digest, width = width_of(buf), whole = whole }
end

--- Cards are where they belong; those that stand right already are not touched.
function M.draw()
  for id, mark in pairs(drawn) do
    local held = state.requests[id]
    local fits = held and held.request.digest == mark.digest and vim.api.nvim_buf_is_loaded(mark.buf)
    if not fits or width_of(mark.buf) ~= mark.width then
      erase(id)
    end
  end
  for _, held in ipairs(M.pending()) do
    local buf, row = target(held)
    local mark = drawn[held.request.id]
    if mark and (not buf or (buf ~= mark.buf and held.request.card.type == 'edit')) then
      erase(held.request.id)
      mark = drawn[held.request.id]
    end
    if buf and not mark and not typing_in(buf) then
      put(held, buf, row)
    end
  end
  M.look()
end

--- Where a card is to be seen: in a text, or in the transcript.
---@return integer? buf
---@return integer? row
function M.place(held)
  local mark = drawn[held.request.id]
  local at = mark
    and vim.api.nvim_buf_is_loaded(mark.buf)
    and vim.api.nvim_buf_get_extmark_by_id(mark.buf, namespace, mark.mark, {})
  if at and at[1] then
    return mark.buf, at[1]
  end
  return transcript_rows(held)
end

local function on_screen(buf, row, count)
  for _, window in ipairs(vim.fn.win_findbuf(buf)) do
    if row + (count or 1) > vim.fn.line('w0', window) - 1 and row + 1 <= vim.fn.line('w$', window) then
      return true
    end
  end
  return false
end

--- Notes which cards are to be seen just now, and since when.
function M.look()
  for id, held in pairs(state.requests) do
    local mark = drawn[id]
    local seen = false
    if mark and mark.whole and mark.digest == held.request.digest and vim.api.nvim_buf_is_loaded(mark.buf) then
      local at = vim.api.nvim_buf_get_extmark_by_id(mark.buf, namespace, mark.mark, {})
      seen = at[1] ~= nil and on_screen(mark.buf, at[1])
    end
    if not seen then
      local buf, row, count = transcript_rows(held)
      seen = buf ~= nil and row ~= nil and count > 1 and on_screen(buf, row, count)
    end
    if seen then
      held.since = held.since or vim.uv.now()
    end
  end
end

--- The request that a command without a number means, among those that it can answer.
local function implied(fits)
  local pending = vim.tbl_filter(fits or function()
    return true
  end, M.pending())
  local buf = vim.api.nvim_get_current_buf()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local shown = vim.api.nvim_buf_get_name(buf):match('^agent%-ls://request/(%d+)$')
  for _, held in ipairs(pending) do
    local mark = drawn[held.request.id]
    local at = mark and mark.buf == buf and vim.api.nvim_buf_get_extmark_by_id(buf, namespace, mark.mark, {}) or {}
    local beside, first, count = transcript_rows(held)
    local inside = beside == buf and first and row >= first and row < first + count
    if tonumber(shown) == held.request.number or at[1] == row or inside then
      return held
    end
  end
  if #pending == 1 then
    return pending[1]
  end
  return nil, #pending == 0 and 'Nothing waits for you.' or (#pending .. ' wait for you; say which: `:Agent pending`.')
end

---@param number? integer
---@param fits? fun(held: agent_ls.Held): boolean which ones are meant where no number is given
---@return agent_ls.Held?
---@return string? trouble
function M.find(number, fits)
  if not number then
    return implied(fits)
  end
  for _, held in pairs(state.requests) do
    if held.request.number == number then
      return held
    end
  end
  local sentence = 'No request #%d waits: it was answered, or its run has ended. `:Agent pending` lists what waits.'
  return nil, sentence:format(number)
end

local function again(sentence, request)
  client.say(sentence:format(request.number), vim.log.levels.INFO)
end

--- An answer of the person, if they can have seen what it answers.
---@param said { decision: string, scope?: string, reason?: string, answers?: table, optionId?: string, input?: table }
---@param done? fun()
function M.answer(held, said, done)
  local request = held.request
  M.look()
  if not held.since then
    require('agent_ls.show').open(held)
    return again('#%d had not been on the screen; look at it, then say it again.', request)
  end
  if vim.uv.now() - held.since < GRACE_MS then
    return again('#%d has only just come up; look at it, then say it again.', request)
  end
  local link = client.link(held.root)
  if not link then
    return client.say('The link to the daemon is down and comes back by itself; try again in a moment.')
  end
  local params = vim.tbl_extend('error', said, { requestId = request.id, digest = request.digest })
  client.command(link, 'agent/request/respond', params, function()
    local words = { allow = 'Allowed', deny = 'Denied', answer = 'Answered' }
    client.say(('%s #%d.'):format(words[said.decision], request.number), vim.log.levels.INFO)
    if done then
      done()
    end
  end)
end

return M
