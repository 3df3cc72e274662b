-- What waits for the person: cards in the text, and their answers.
--
-- Owns that a card never takes a key or moves the text one is typing in, that an answer goes to what was on the screen,
-- and that one given in the first moment after a card came is not taken. Does not own what that means (seen), nor which
-- answers count (the daemon).

local card = require('agent_ls.card')
local client = require('agent_ls.client')
local config = require('agent_ls.config')
local marks = require('agent_ls.marks')
local seen = require('agent_ls.seen')
local state = require('agent_ls.state')

local M = {}

local GRACE_MS = 400

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
  if beside and row and #seen.windows(beside) > 0 then
    return nil
  end
  buf = state.last_file
  if buf and vim.api.nvim_buf_is_loaded(buf) and config.root(buf) == held.root then
    local window = vim.fn.win_findbuf(buf)[1]
    return buf, window and vim.api.nvim_win_get_cursor(window)[1] - 1 or 0
  end
end

--- Cards are where they belong; those that stand right already are not touched.
function M.draw()
  marks.sweep()
  for _, held in ipairs(M.pending()) do
    local id = held.request.id
    local buf, row = target(held)
    local mark = state.drawn[id]
    if mark and (not buf or (buf ~= mark.buf and held.request.card.type == 'edit')) then
      marks.erase(id)
      mark = state.drawn[id]
    end
    if buf and row and not mark and not marks.typing_in(buf) then
      marks.put(held, buf, row)
    end
  end
  M.look()
end

--- Where a card is to be seen: in a text, or in the transcript.
---@return integer? buf
---@return integer? row
function M.place(held)
  local buf, row = marks.of(held)
  if buf then
    return buf, row
  end
  return transcript_rows(held)
end

--- Notes which cards are to be seen just now, and since when.
function M.look()
  seen.look(marks.whole, transcript_rows)
end

--- The request that a command without a number means, among those that it can answer.
local function implied(fits)
  local pending = vim.tbl_filter(fits or function()
    return true
  end, M.pending())
  local buf = vim.api.nvim_get_current_buf()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local shown = vim.api.nvim_buf_get_name(buf):match('^agent%-ls://request/(%d+)$')
  local here = vim.tbl_filter(function(held)
    local marked, at = marks.of(held)
    local beside, first, count = transcript_rows(held)
    local inside = beside == buf and first and row >= first and row < first + count
    return tonumber(shown) == held.request.number or (marked == buf and at == row) or inside
  end, pending)
  if #here == 1 or #pending == 1 then
    return here[1] or pending[1]
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
