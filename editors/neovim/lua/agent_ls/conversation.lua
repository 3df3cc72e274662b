-- Conversations as this window knows them: folded from the answer of an attach and from what came after.
--
-- Owns order and completeness: each event once, attached again where something was missed. Does not own how it looks
-- (render, view) nor where it is shown (transcript).

local client = require('agent_ls.client')
local countdown = require('agent_ls.countdown')
local in_flight = require('agent_ls.in_flight')
local state = require('agent_ls.state')

local M = {}

local PAGE = 500
local OPEN = { starting = true, running = true, finalizing = true }

---@class agent_ls.Conversation
---@field id string
---@field root string
---@field about agent_ls.wire.ConversationView
---@field seq integer
---@field items table<string, agent_ls.wire.Item>
---@field requests table<string, agent_ls.wire.Request>
---@field queue agent_ls.wire.Run[]
---@field windows agent_ls.wire.Presence[] all that follow it, this one among them
---@field joining agent_ls.wire.Steer[] what was said to the run that goes on and it has not read yet
---@field streams table<string, { text: string, output?: string, phase: string, place: integer }>
---@field run? string the run that goes on
---@field retry_at? integer when a model in trouble is asked again, in seconds since 1970
---@field to_retry? string the run that has failed or was stopped, if it is the last one
---@field attached boolean
---@field streamed integer how many texts in flight there were

local function transcript()
  return require('agent_ls.transcript')
end

--- The conversation that commands speak of: that of the transcript one is in, else the one of this workspace.
---@return agent_ls.Conversation?
function M.current()
  local found = M.of_buffer(vim.api.nvim_get_current_buf())
  return found or state.conversations[state.current[client.here()] or '']
end

---@return agent_ls.Conversation?
function M.of_buffer(buf)
  local id = vim.api.nvim_buf_get_name(buf):match('^agent%-ls://conversation/(.+)$')
  return id and state.conversations[id] or nil
end

local function fresh(id, root)
  return {
    id = id,
    root = root,
    about = { id = id },
    seq = 0,
    items = {},
    requests = {},
    queue = {},
    joining = {},
    windows = {},
    streams = {},
    attached = false,
    streamed = 0,
  }
end

--- Follows a conversation and makes it the one that commands speak of.
---@param done fun(conversation: agent_ls.Conversation)
function M.enter(link, id, done)
  local known = state.conversations[id]
  state.current[link.root] = id
  if known and known.attached then
    return done(known)
  end
  M.attach(link, id, done)
end

--- Follows a conversation; asked again, from where this window stands.
---@param done? fun(conversation: agent_ls.Conversation)
function M.attach(link, id, done)
  local known = state.conversations[id]
  local conversation = known or fresh(id, link.root)
  conversation.attached = false
  local after = known and known.seq > 0 and known.seq or nil
  local params = { conversationId = id, backfill = { items = PAGE }, after = after }
  client.request(link, 'agent/conversation/attach', params, function(answer)
    state.conversations[id] = conversation
    M.taken(conversation, answer)
    if answer.olderCursor then
      M.older(link, conversation, answer.olderCursor)
    end
    require('agent_ls.status').fire('AgentLsAttached', { conversation = id })
    require('agent_ls.status').changed()
    if done then
      done(conversation)
    end
  end)
end

--- The answer of an attach.
function M.taken(conversation, answer)
  conversation.attached = true
  conversation.about = answer.conversation
  conversation.seq = answer.seq
  conversation.queue = answer.queue
  conversation.windows = answer.windows or {}
  conversation.joining = answer.run and answer.run.steers or {}
  countdown.note(conversation, answer.run)
  conversation.streams, conversation.streamed = {}, 0
  if answer.snapshot then
    conversation.items, conversation.run = {}, nil
    for _, item in ipairs(answer.items) do
      conversation.items[item.id] = item
    end
  end
  for _, request in ipairs(answer.requests) do
    conversation.requests[request.id] = request
  end
  if answer.conversation.status ~= 'idle' and answer.conversation.status ~= 'queued' then
    local last = M.sorted(conversation)
    conversation.run = conversation.run or (#last > 0 and last[#last].runId or nil)
  end
  for _, stream in ipairs(answer.streams) do
    in_flight.add(conversation, stream)
  end
  transcript().redraw(conversation)
end

--- What came before the first page, page by page, until all of it is there.
function M.older(link, conversation, cursor)
  local params = { conversationId = conversation.id, cursor = cursor, limit = 1000 }
  client.request(link, 'agent/conversation/items', params, function(answer)
    local new = {}
    for _, item in ipairs(answer.items) do
      if not conversation.items[item.id] then
        conversation.items[item.id] = item
        new[#new + 1] = item
      end
    end
    transcript().older(conversation, new)
    if answer.olderCursor and #new > 0 then
      M.older(link, conversation, answer.olderCursor)
    end
  end, function() end)
end

function M.sorted(conversation)
  local items = vim.tbl_values(conversation.items)
  table.sort(items, function(one, other)
    return one.ord < other.ord
  end)
  return items
end

--- A link with a daemon that is new to it: everything of its workspace is followed again.
function M.on_link(link)
  for id, conversation in pairs(state.conversations) do
    if conversation.root == link.root then
      M.attach(link, id)
    end
  end
  client.request(link, 'agent/conversation/list', { workspace = vim.uri_from_fname(link.root) }, function(answer)
    M.on_summaries(answer.conversations)
  end, function() end)
end

function M.resync(id)
  local conversation = state.conversations[id]
  local link = conversation and client.link(conversation.root)
  if conversation and link then
    M.attach(link, id)
  end
end

function M.on_summaries(summaries, deleted)
  for _, summary in ipairs(summaries or {}) do
    state.summaries[summary.id] = summary
    local conversation = state.conversations[summary.id]
    if conversation then
      conversation.about = vim.tbl_extend('force', conversation.about, summary)
      transcript().headed(conversation)
    end
  end
  for _, id in ipairs(deleted or {}) do
    state.summaries[id] = nil
    state.conversations[id] = nil
    for root, current in pairs(state.current) do
      state.current[root] = current ~= id and current or nil
    end
  end
  require('agent_ls.status').changed()
end

function M.on_events(params)
  local conversation = state.conversations[params.conversationId]
  if not conversation or not conversation.attached then
    return
  end
  for _, event in ipairs(params.events) do
    if event.seq > conversation.seq + 1 then
      return M.resync(conversation.id)
    elseif event.seq == conversation.seq + 1 then
      conversation.seq = event.seq
      M.event(conversation, event)
    end
  end
end

function M.event(conversation, event)
  local kind, entity = event.kind, event.entity
  if kind == 'item' then
    conversation.items[entity.id] = entity
    if entity.status ~= 'running' then
      conversation.streams[entity.id] = nil
    end
    if entity.kind == 'file_change' and type(entity.payload.uri) == 'string' then
      require('agent_ls.documents').written(entity.payload.uri)
    end
    transcript().item(conversation, entity)
  elseif kind == 'request' then
    conversation.requests[entity.id] = entity
    local item = conversation.items[entity.itemId]
    if item then
      transcript().item(conversation, item)
    end
  elseif kind == 'run' then
    M.run(conversation, entity)
  elseif kind == 'attempt' then
    in_flight.over(conversation)
  elseif kind == 'conversation' then
    if require('agent_ls.about').changed(conversation, entity) then
      in_flight.over(conversation)
    end
    transcript().headed(conversation)
  end
end

function M.run(conversation, run)
  local queue = vim.tbl_filter(function(other)
    return other.id ~= run.id
  end, conversation.queue)
  if run.status == 'queued' then
    queue[#queue + 1] = run
    table.sort(queue, function(one, other)
      return (one.position or one.ordinal) < (other.position or other.ordinal)
    end)
  end
  conversation.queue = queue
  if OPEN[run.status] then
    conversation.run = run.id
    conversation.joining = run.steers or {}
    countdown.note(conversation, run)
    conversation.to_retry = nil
  elseif conversation.run == run.id then
    conversation.run = nil
    conversation.joining = {}
    conversation.to_retry = (run.status == 'failed' or run.status == 'interrupted') and run.id or nil
    in_flight.over(conversation)
    require('agent_ls.status').fire('AgentLsEnded', { run = run.id, status = run.status })
  end
  transcript().queue(conversation)
end

return M
