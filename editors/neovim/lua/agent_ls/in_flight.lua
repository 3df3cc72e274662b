-- Text in flight: what a model or a tool has said so far of an item that is not committed yet.
--
-- Owns what is kept of it, and that it is void once its step is over. Does not own how it looks (transcript).

local state = require('agent_ls.state')

local M = {}

local function transcript()
  return require('agent_ls.transcript')
end

--- A step was committed or given up: text in flight that is not an item by now is void.
function M.over(conversation)
  for id in pairs(conversation.streams) do
    if not conversation.items[id] then
      conversation.streams[id] = nil
      transcript().gone(conversation, id)
    end
  end
end

--- A frame of text in flight, or all of it so far. Returns what is new of it.
function M.add(conversation, part)
  local stream = conversation.streams[part.itemId]
  if not stream then
    conversation.streamed = conversation.streamed + 1
    stream = { text = '', phase = part.phase or 'answering', place = conversation.streamed }
    conversation.streams[part.itemId] = stream
  end
  if type(part.output) == 'string' then
    stream.output = (stream.output or '') .. part.output
  elseif type(part.text) == 'string' then
    stream.text = part.text
  elseif type(part.delta) == 'string' then
    stream.text = stream.text .. part.delta
    return part.delta
  end
end

function M.on_stream(params)
  local conversation = state.conversations[params.conversationId]
  if conversation and conversation.attached then
    local settled = conversation.items[params.itemId]
    if not settled or settled.status == 'running' or settled.status == 'pending' then
      local delta = M.add(conversation, params)
      transcript().stream(conversation, params.itemId, delta)
    end
  end
end

return M
