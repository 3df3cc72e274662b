-- `:Agent …`: what a person can say, and its completion.
--
-- Owns the words of the command. Everything ends in one sentence at the most; nothing here asks back.

local approvals = require('agent_ls.approvals')
local card = require('agent_ls.card')
local client = require('agent_ls.client')
local config = require('agent_ls.config')
local conversation = require('agent_ls.conversation')
local state = require('agent_ls.state')
local window = require('agent_ls.window')

local M = {}

local INFO = vim.log.levels.INFO
local SCOPES = { once = true, conversation = true, workspace = true }

--- Calls on with a link, or says why there is none.
local function linked(root, work)
  client.ensure(root, function(link, trouble)
    if link then
      work(link)
    else
      client.say(trouble)
    end
  end)
end

local function is_question(held)
  return held.request.kind == 'question'
end

local function is_approval(held)
  return not is_question(held)
end

---@return agent_ls.Held?
local function request(word, fits)
  local number = word and tonumber((word:gsub('^#', '')))
  if word and not number then
    return client.say(('`%s` is not the number of a request.'):format(word))
  end
  local held, trouble = approvals.find(number, fits)
  return held or approvals.became(number, trouble)
end

--- The newest conversation of a workspace, as the list says.
local function newest(root)
  local workspace = vim.uri_from_fname(root)
  local found
  for _, summary in pairs(state.summaries) do
    if summary.workspace == workspace and (not found or (summary.updatedAt or '') > (found.updatedAt or '')) then
      found = summary
    end
  end
  return found and found.id
end

--- Follows a conversation and makes it the one that commands speak of.
local function enter(link, id, done)
  local known = state.conversations[id]
  state.current[link.root] = id
  if known and known.attached then
    return done(known)
  end
  conversation.attach(link, id, done)
end

local function selection(opts)
  if opts.range == 0 then
    return nil
  end
  local lines = vim.api.nvim_buf_get_lines(0, opts.line1 - 1, opts.line2, false)
  return {
    {
      type = 'selection',
      uri = vim.api.nvim_buf_get_name(0) ~= '' and vim.uri_from_bufnr(0) or nil,
      range = {
        start = { line = opts.line1 - 1, character = 0 },
        ['end'] = { line = opts.line2, character = 0 },
      },
      text = table.concat(lines, '\n'),
    },
  }
end

local function send(link, to, said, context)
  local params = { conversationId = to.id, content = { { type = 'text', text = said } }, context = context }
  client.command(link, 'agent/message/send', params, function()
    if config.options.open_on_ask then
      window.open(to)
    end
  end)
end

function M.ask(words, opts)
  local said = words
  if not said:find('%S') then
    return client.say('Say what you want: `:Agent ask Why does this test fail?`.')
  end
  local context, root, current = selection(opts), client.here(), conversation.current()
  linked(root, function(link)
    if current then
      return send(link, current, said, context)
    end
    client.command(link, 'agent/conversation/create', { workspace = vim.uri_from_fname(root) }, function(made)
      enter(link, made.conversation.id, function(entered)
        send(link, entered, said, context)
      end)
    end)
  end)
end

function M.toggle()
  if #window.windows() > 0 then
    return window.close()
  end
  local current, root = conversation.current(), client.here()
  if current then
    return window.open(current)
  end
  M.attach('', root)
end

function M.attach(words, root)
  root = root or client.here()
  linked(root, function(link)
    local function open(id)
      if not id then
        return client.say('There is no conversation here yet; `:Agent ask …` begins one.', INFO)
      end
      enter(link, id, window.open)
    end
    if words:find('%S') then
      return open(words:match('%S+'))
    end
    client.request(link, 'agent/conversation/list', { workspace = vim.uri_from_fname(root) }, function(answer)
      conversation.on_summaries(answer.conversations)
      open(newest(root))
    end)
  end)
end

--- The conversations of this workspace in a window of their own; Enter attaches.
function M.conversations()
  local root = client.here()
  linked(root, function(link)
    client.request(link, 'agent/conversation/list', { workspace = vim.uri_from_fname(root) }, function(answer)
      conversation.on_summaries(answer.conversations)
      local shown = require('agent_ls.list').open(root, function(id)
        M.attach(id, root)
      end)
      if not shown then
        client.say('There is no conversation here yet; `:Agent ask …` begins one.', INFO)
      end
    end)
  end)
end

function M.new(words, opts)
  state.current[client.here()] = nil
  if words:find('%S') then
    return M.ask(words, opts)
  end
  window.close()
  client.say('The next `:Agent ask …` begins a new conversation.', INFO)
end

function M.approve(words)
  local scope, number = 'once', nil
  for word in words:gmatch('%S+') do
    if SCOPES[word] then
      scope = word
    else
      number = word
    end
  end
  local held = request(number, is_approval)
  if held and is_question(held) then
    client.say(('#%d is a question: `:Agent answer %d …`.'):format(held.request.number, held.request.number))
  elseif held then
    approvals.answer(held, { decision = 'allow', scope = scope })
  end
end

function M.deny(words)
  local number, reason = words:match('^#?(%d+)%s*(.*)$')
  local held = request(number)
  if held then
    reason = vim.trim(number and reason or words)
    approvals.answer(held, { decision = 'deny', reason = reason ~= '' and reason or nil })
  end
end

function M.answer(words)
  -- A number that stands alone is an option of the question, as in the chat, unless it is the question's own.
  local number, said = words:match('^#?(%d+)%s+(.+)$')
  local alone = tonumber((vim.trim(words):gsub('^#', '')))
  local whole = not number and words:find('%S')
  if whole and not (alone and approvals.find(alone)) then
    said = vim.trim(words)
  end
  local held = request(number or (whole and not said and tostring(alone)) or nil, is_question)
  if held and not is_question(held) then
    return client.say(('#%d is not a question: `:Agent approve %d`.'):format(held.request.number, held.request.number))
  end
  if not held or not said then
    return held and client.say(('Say the answer: `:Agent answer %d …`.'):format(held.request.number))
  end
  local answers, option = card.answers(held.request, said)
  approvals.answer(held, { decision = 'answer', answers = answers, optionId = option })
end

--- A command on a run of the conversation at hand.
local function on_run(method, run, otherwise)
  local current = conversation.current()
  if not current or not current[run] then
    return client.say(otherwise, INFO)
  end
  linked(current.root, function(link)
    client.command(link, method, { runId = current[run] })
  end)
end

function M.stop()
  on_run('agent/run/interrupt', 'run', 'Nothing is running here.')
end

function M.pending()
  local items = {}
  for _, held in ipairs(approvals.pending()) do
    local shown = type(held.request.card) == 'table' and held.request.card or {}
    items[#items + 1] = {
      filename = shown.type == 'edit' and shown.uri and vim.uri_to_fname(shown.uri) or nil,
      lnum = shown.type == 'edit' and card.first_changed(shown.diff or '') + 1 or nil,
      text = ('#%d  %s'):format(held.request.number, require('agent_ls.text').one_line(held.request.title or '')),
      type = 'W',
    }
  end
  if #items == 0 then
    return client.say('Nothing waits for you.', INFO)
  end
  vim.fn.setqflist({}, ' ', { title = 'What waits for you', items = items })
  local before = vim.api.nvim_get_current_win()
  vim.cmd('botright copen ' .. math.min(#items + 1, 10))
  vim.api.nvim_set_current_win(before)
end

function M.status()
  linked(client.here(), function(link)
    local said = require('agent_ls.status').status()
    local hello = link.hello
    said = said ~= '' and said or 'agent: idle'
    client.say(('%s (agent-ls %s, daemon %d)'):format(said, hello.daemonVersion, hello.pid), INFO)
  end)
end

M.VERBS = {
  ask = M.ask,
  answer = M.answer,
  approve = M.approve,
  attach = M.attach,
  conversations = M.conversations,
  deny = M.deny,
  hurry = function()
    on_run('agent/run/hurry', 'run', 'Nothing is running here.')
  end,
  new = M.new,
  pending = M.pending,
  retry = function()
    on_run('agent/run/retry', 'to_retry', 'The last message has not failed and was not stopped.')
  end,
  show = function(words)
    local held = request(words:match('%S+'))
    if held then
      require('agent_ls.show').open(held)
    end
  end,
  status = M.status,
  stop = M.stop,
}

function M.run(opts)
  require('agent_ls').load()
  local verb, words = opts.args:match('^%s*(%S*)%s*(.*)$')
  if verb == '' then
    return M.toggle()
  end
  local work = M.VERBS[verb]
  if not work then
    return client.say(('`:Agent %s` is unknown; try `:Agent ask …` or `:help agent-ls`.'):format(verb))
  end
  if verb == 'attach' then
    return M.attach(words)
  end
  work(words, opts)
end

return M
