-- Transcripts in buffers: what of a conversation is drawn when.
--
-- Owns the buffer `agent-ls://conversation/ID` and the joining of frames into one write. Does not own lines (render),
-- how they are written (view) nor windows (window).

local render = require('agent_ls.render')
local state = require('agent_ls.state')
local view = require('agent_ls.view')

local M = {}

local IN_FLIGHT = 2 ^ 50
local LAST = 2 ^ 52
local SIGNED = ('^\\V\\[%s] '):format(table.concat(vim.tbl_values(render.SIGN)))

local views = state.views

local function shown(conversation)
  local found = views[conversation.id]
  if found and vim.api.nvim_buf_is_loaded(found.buf) then
    if not found:valid() then
      M.redraw(conversation)
    end
    return found
  end
  views[conversation.id] = nil
end

local function head(conversation)
  local title = conversation.about.title
  title = type(title) == 'string' and title ~= '' and title or 'New conversation'
  return '# ' .. require('agent_ls.text').one_line(title, 100)
end

--- Of a fork also where it began.
local function heads(conversation)
  local lines, began = { head(conversation) }, conversation.about.forkedFrom
  if type(began) == 'table' then
    local run = type(began.runId) == 'string' and began.runId:match('%.r(%d+)$')
    local title = require('agent_ls.text').one_line(began.title ~= '' and began.title or began.conversationId, 60)
    lines[3] = ('Forked from “%s”%s'):format(title, run and (', up to run %s'):format(run) or '')
    lines[2] = ''
  end
  return lines
end

local function known_of(conversation, item)
  local payload = item.payload or {}
  local stream = conversation.streams[item.id]
  local request = payload.requestId and conversation.requests[payload.requestId]
  if (item.kind == 'question' or item.kind == 'plan') and item.status == 'pending' then
    for _, one in pairs(conversation.requests) do
      request = one.itemId == item.id and one or request
    end
  end
  return { request = request, output = stream and stream.output }
end

local function stream_lines(stream)
  if stream.phase == 'thinking' then
    return render.thought(stream.text), 'call'
  elseif stream.phase == 'compacting' then
    return { ('%s Making room…'):format(render.SIGN.notice) }, 'text'
  end
  return render.prose(stream.text), 'text'
end

--- Where an item stands. What was said before a stop is kept after it, and belongs before it.
local function place_of(conversation, item)
  if item.status == 'interrupted' and (item.kind == 'assistant_message' or item.kind == 'reasoning') then
    for _, one in pairs(conversation.items) do
      if one.kind == 'interrupt' and one.runId == item.runId and one.ord < item.ord then
        return one.ord - 1 / (item.ord + 1)
      end
    end
  end
  return item.ord
end

local function entry_of(conversation, item)
  local lines, group = render.item(item, known_of(conversation, item))
  return { id = item.id, ord = place_of(conversation, item), lines = lines, group = group }
end

local function entries_of(conversation, items)
  local entries = vim.tbl_map(function(item)
    return entry_of(conversation, item)
  end, items)
  table.sort(entries, function(one, other)
    return one.ord < other.ord
  end)
  return entries
end

--- All of it, as after an attach.
function M.redraw(conversation)
  local found = views[conversation.id]
  if not found or not vim.api.nvim_buf_is_loaded(found.buf) then
    return
  end
  state.undrawn[conversation.id] = nil
  local keep = found:valid()
  if not keep then
    found = view.new(found.buf, head(conversation))
    views[conversation.id] = found
  end
  found:load(entries_of(conversation, vim.tbl_values(conversation.items)))
  for id, stream in pairs(conversation.streams) do
    if not conversation.items[id] then
      local lines, group = stream_lines(stream)
      found:put(id, IN_FLIGHT + stream.place, lines, group)
    end
  end
  M.headed(conversation)
  M.queue(conversation)
end

function M.older(conversation, items)
  local found = shown(conversation)
  if found then
    found:load(entries_of(conversation, items), true)
  end
end

function M.headed(conversation)
  local found = shown(conversation)
  if found then
    found:put('@head', -1, heads(conversation), 'text')
  end
end

function M.item(conversation, item)
  local found = shown(conversation)
  if found then
    if state.undrawn[conversation.id] then
      state.undrawn[conversation.id][item.id] = nil
    end
    local entry = entry_of(conversation, item)
    found:put(entry.id, entry.ord, entry.lines, entry.group)
  end
end

function M.queue(conversation)
  local found = shown(conversation)
  if found then
    found:put('@queue', LAST, render.queue(conversation.queue, conversation.joining), 'text')
  end
end

function M.gone(conversation, id)
  local found = shown(conversation)
  if found then
    (state.undrawn[conversation.id] or {})[id] = nil
    found:remove(id)
  end
end

--- Text in flight went on. Frames that come together are written together.
function M.stream(conversation, id, delta)
  local frames = state.undrawn[conversation.id] or {}
  state.undrawn[conversation.id] = frames
  frames[id] = frames[id] or {}
  table.insert(frames[id], delta)
  if not state.drawing then
    state.drawing = true
    vim.schedule(M.draw_frames)
  end
end

function M.draw_frames()
  state.drawing = false
  local frames = state.undrawn
  state.undrawn = {}
  for known, items in pairs(frames) do
    local conversation = state.conversations[known]
    local found = conversation and shown(conversation)
    for id, deltas in pairs(found and items or {}) do
      local stream, item = conversation.streams[id], conversation.items[id]
      if stream and item then
        M.item(conversation, item)
      elseif stream then
        M.draw_stream(found, id, stream, table.concat(deltas))
      end
    end
  end
end

function M.draw_stream(found, id, stream, delta)
  local entry = found.by_id[id]
  local simple = delta ~= '' and stream.phase == 'answering' and entry and #entry.lines > 0
  -- Trailing blank is not drawn until more follows, so only text that goes on in a line can simply be added.
  local pieces = simple and M.pieces(entry, stream, delta)
  if pieces then
    found:append(id, pieces)
  else
    local lines, group = stream_lines(stream)
    if #lines > 1 or lines[1] ~= '' then
      found:put(id, IN_FLIGHT + stream.place, lines, group)
    end
  end
end

--- What to add at the end so that it is as if drawn anew; nil where it has to be drawn anew.
function M.pieces(entry, stream, delta)
  local before = stream.text:sub(1, #stream.text - #delta)
  if before:find('%s$') or delta:find('%s$') then
    return nil
  end
  local pieces = vim.split(require('agent_ls.text').prose(delta), '\n', { plain = true })
  for place = 2, #pieces do
    pieces[place] = render.plain(pieces[place])
  end
  return entry.lines[#entry.lines] ~= '' and pieces or nil
end

--- The conversation's buffer, made at its first use.
function M.buffer(conversation)
  local found = views[conversation.id]
  if found and vim.api.nvim_buf_is_loaded(found.buf) then
    return found.buf
  end
  local name = 'agent-ls://conversation/' .. conversation.id
  local old = vim.fn.bufnr('^' .. name .. '$')
  if old > 0 then
    vim.api.nvim_buf_delete(old, { force = true })
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, name)
  return M.adopt(conversation, buf)
end

--- The conversation is drawn into this buffer from now on.
function M.adopt(conversation, buf)
  local options = {
    buftype = 'nofile',
    bufhidden = 'hide',
    swapfile = false,
    -- The text of others is no place to take options from.
    modeline = false,
    undolevels = -1,
    buflisted = false,
    -- A long line goes on beneath its text, not beneath its sign.
    formatlistpat = SIGNED,
  }
  for name, value in pairs(options) do
    vim.bo[buf][name] = value
  end
  views[conversation.id] = view.new(buf, head(conversation))
  M.redraw(conversation)
  vim.bo[buf].filetype = 'agent-ls'
  require('agent_ls.keys').transcript(conversation, buf)
  return buf
end

--- The transcript's buffer was read by its name: `:edit`, or a saved arrangement of windows.
function M.open_by_name(buf, name)
  local id = name:match('^agent%-ls://conversation/(.+)$')
  local known = id and state.conversations[id]
  if known then
    return M.adopt(known, buf)
  end
  local client = require('agent_ls.client')
  client.with(client.here(), function(link)
    require('agent_ls.conversation').attach(link, id, function(conversation)
      M.adopt(conversation, buf)
    end)
  end)
end

---@return agent_ls.View?
function M.view(conversation)
  return shown(conversation)
end

return M
