-- The messages that wait for their turn, in a list that the person opens: taken out, brought forward, written anew.
--
-- Owns the keys of that list. Does not own the order (the daemon).

local client = require('agent_ls.client')
local list = require('agent_ls.list')
local render = require('agent_ls.render')

local M = {}

local INFO = vim.log.levels.INFO

local function said(run)
  return table.concat(render.blocks(run.content), '\n')
end

--- A change of the queue; the list is closed when it is done.
local function update(conversation, run, op, done)
  client.with(conversation.root, function(link)
    local params = { conversationId = conversation.id, op = op, runId = run.id }
    client.command(link, 'agent/queue/update', params, done)
  end)
end

---@param conversation? agent_ls.Conversation
function M.open(conversation)
  if not conversation or #conversation.queue == 0 then
    return client.say('Nothing waits for its turn; `:Agent queue …` puts something there.', INFO)
  end
  local entries = vim.tbl_map(function(run)
    return { require('agent_ls.text').one_line(said(run), 200), value = run }
  end, conversation.queue)
  local function says_it(run, close)
    close()
    update(conversation, run, 'promote')
  end
  local function writes_it(run, close)
    close()
    update(conversation, run, 'remove', function()
      require('agent_ls.prompt').open(nil, said(run))
    end)
  end
  local function drops_it(run, close)
    close()
    update(conversation, run, 'remove')
  end
  list.open({
    name = 'queue',
    title = conversation.about.queueHeld and 'queue, held' or 'queue',
    entries = entries,
    keys = {
      { 'p', 'p says it to the run now', says_it },
      { 'e', 'e writes it anew', writes_it },
      { 'x', 'x takes it out', drops_it },
    },
  })
end

return M
