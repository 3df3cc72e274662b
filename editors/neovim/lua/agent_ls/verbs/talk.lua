-- Words to the agent: ask, queue, steer, and what a run that goes on, or has ended, can be told.

local client = require('agent_ls.client')
local config = require('agent_ls.config')
local conversation = require('agent_ls.conversation')
local context = require('agent_ls.context')
local state = require('agent_ls.state')
local window = require('agent_ls.window')

local M = {}

local INFO = vim.log.levels.INFO

--- Sends to the conversation one is in, or to a new one.
---@param said string
---@param how { dispatch?: string, context?: table[], done?: fun(), failed?: fun(sentence: string) }
function M.send(said, how)
  local root, current = client.here(), conversation.current()
  local beside = vim.list_extend(how.context or {}, context.mentioned(said, root))
  local function send(link, to)
    local params = {
      conversationId = to.id,
      content = { { type = 'text', text = said } },
      context = #beside > 0 and beside or nil,
      dispatch = how.dispatch,
    }
    client.command(link, 'agent/message/send', params, function(answer)
      if type(answer.notice) == 'string' and answer.notice ~= '' then
        client.say(answer.notice, INFO)
      end
      if how.done then
        how.done()
      end
      if config.options.open_on_ask then
        window.open(to)
      end
    end, how.failed)
  end
  client.with(root, function(link)
    if current then
      return send(link, current)
    end
    local params = { workspace = vim.uri_from_fname(root), mode = state.next_mode[root] }
    client.command(link, 'agent/conversation/create', params, function(made)
      state.next_mode[root] = nil
      conversation.enter(link, made.conversation.id, function(entered)
        send(link, entered)
      end)
    end, how.failed)
  end, how.failed)
end

--- One way of saying something; without words it is what stands in the prompt, where one is in it.
local function saying(dispatch, otherwise)
  return function(words, opts)
    if words:find('%S') then
      return M.send(words, { dispatch = dispatch, context = context.range(opts) })
    end
    if not require('agent_ls.prompt').send(dispatch) then
      otherwise()
    end
  end
end

local function missing(sentence)
  return function()
    client.say(sentence)
  end
end

M.ask = saying(nil, missing('Say what you want: `:Agent ask Why does this test fail?`.'))
M.steer = saying('steer', missing('Say what the run should hear now: `:Agent steer Leave the tests alone.`'))
M.queue = saying('queue', function()
  require('agent_ls.waiting').open(conversation.current())
end)

function M.new(words, opts)
  state.current[client.here()] = nil
  if words:find('%S') then
    return M.send(words, { context = context.range(opts) })
  end
  window.close()
  client.say('The next `:Agent ask …` begins a new conversation.', INFO)
end

--- A command on a run of the conversation at hand; `which` finds it there.
local function on_run(method, which, otherwise)
  return function()
    local current = conversation.current()
    local run = current and which(current)
    if not run then
      return client.say(otherwise, INFO)
    end
    client.with(current.root, function(link)
      client.command(link, method, { runId = run })
    end)
  end
end

local function running(current)
  return current.run
end

local function failed(current)
  return current.to_retry
end

--- While no run goes on, a compaction is shown under the newest one.
local function stoppable(current)
  local newest
  for _, item in pairs(current.about.compacting and current.items or {}) do
    newest = (not newest or item.ord > newest.ord) and item or newest
  end
  return current.run or (newest and newest.runId)
end

M.stop = on_run('agent/run/interrupt', stoppable, 'Nothing is running here.')
M.hurry = on_run('agent/run/hurry', running, 'Nothing is running here.')
M.retry = on_run('agent/run/retry', failed, 'The last message has not failed and was not stopped.')

--- Goes on: a queue that is held is released; else what was stopped or has failed is asked again.
function M.resume()
  local current = conversation.current()
  if not current or not current.about.queueHeld or #current.queue == 0 then
    return M.retry()
  end
  client.with(current.root, function(link)
    client.command(link, 'agent/queue/update', { conversationId = current.id, op = 'release' })
  end)
end

return M
