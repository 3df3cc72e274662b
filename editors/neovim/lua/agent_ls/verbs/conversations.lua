-- Which conversation is spoken of, and what can be changed about it.

local client = require('agent_ls.client')
local conversation = require('agent_ls.conversation')
local list = require('agent_ls.list')
local state = require('agent_ls.state')
local text = require('agent_ls.text')
local typing = require('agent_ls.typing')
local window = require('agent_ls.window')

local M = {}

local INFO = vim.log.levels.INFO
local NONE = 'There is no conversation here yet; `:Agent ask …` begins one.'
local MODES = { ask = true, edits = true, plan = true, auto = true }

--- Of a workspace, the newest first.
local function known(root)
  local workspace = vim.uri_from_fname(root)
  local found = vim.tbl_filter(function(summary)
    return summary.workspace == workspace
  end, vim.tbl_values(state.summaries))
  table.sort(found, function(one, other)
    return (one.updatedAt or '') > (other.updatedAt or '')
  end)
  return found
end

local function listed(link, root, done)
  client.request(link, 'agent/conversation/list', { workspace = vim.uri_from_fname(root) }, function(answer)
    conversation.on_summaries(answer.conversations)
    done(known(root))
  end)
end

function M.attach(words, root)
  root = type(root) == 'string' and root or client.here()
  client.with(root, function(link)
    local function open(id)
      if not id then
        return client.say(NONE, INFO)
      end
      conversation.enter(link, id, window.open)
    end
    if words:find('%S') then
      return open(words:match('%S+'))
    end
    listed(link, root, function(found)
      open(found[1] and found[1].id)
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

local function said(value)
  return type(value) == 'string' and value ~= '' and value or nil
end

local function line_of(summary, current)
  local mark = summary.id == current and '›' or ' '
  local title = text.one_line(said(summary.title) or said(summary.lastText) or '(untitled)', 60)
  local waits = (summary.pendingRequests or 0) > 0 and (', %d to answer'):format(summary.pendingRequests) or ''
  local began = summary.forkedFrom
  local lineage = began and (' · fork of %s'):format(text.one_line(said(began.title) or began.conversationId, 40))
    or ''
  return ('%s %s  · %s%s%s · %s'):format(mark, title, summary.status or '', waits, lineage, summary.id)
end

--- The stock `vim.ui.select` asks on the command line and reads the next keys; a list in a window reads none.
local function is_picker()
  return not debug.getinfo(vim.ui.select, 'S').source:find('vim/ui.lua$')
end

local function listed_in_window(found, root, there)
  local entries = vim.tbl_map(function(summary)
    return { line_of(summary, state.current[root]), value = summary }
  end, found)
  local function attach(summary, close)
    close()
    M.attach(summary.id, root)
  end
  list.open({
    name = 'conversations',
    title = 'conversations, the newest first',
    entries = entries,
    keys = { { '<CR>', 'Enter attaches', attach } },
    there = there,
  })
end

--- The conversations of this workspace: in the picker of the person, if they have one, else in a window of their own.
function M.conversations()
  local root, there = client.here(), typing.watch()
  client.with(root, function(link)
    listed(link, root, function(found)
      if #found == 0 then
        return client.say(NONE, INFO)
      elseif not is_picker() then
        return listed_in_window(found, root, there())
      elseif not there() then
        -- A picker reads keys, and these are meant for something else by now.
        return client.say('The conversations are there; `:Agent conversations` shows them.', INFO)
      end
      local function line(summary)
        return line_of(summary, state.current[root])
      end
      vim.ui.select(found, { prompt = 'Conversations', kind = 'agent_ls', format_item = line }, function(summary)
        if summary then
          M.attach(summary.id, root)
        end
      end)
    end)
  end)
end

--- What is done to the conversation that is spoken of.
local function with_current(work)
  local current = conversation.current()
  if not current then
    return client.say(NONE, INFO)
  end
  client.with(current.root, function(link)
    work(link, current)
  end)
end

local function update(given, done)
  with_current(function(link, current)
    local params = vim.tbl_extend('error', { conversationId = current.id }, given)
    client.command(link, 'agent/conversation/update', params, function(answer)
      conversation.on_summaries({ answer.conversation })
      client.say(done, INFO)
    end)
  end)
end

function M.fork(words)
  with_current(function(link, current)
    local title = vim.trim(words)
    local params = { conversationId = current.id, title = title ~= '' and title or nil }
    client.command(link, 'agent/conversation/fork', params, function(made)
      conversation.enter(link, made.conversation.id, window.open)
    end)
  end)
end

--- Tells the conversation that this one is a fork of what came of it.
function M.merge()
  with_current(function(link, current)
    local began = current.about.forkedFrom
    if not began then
      return client.say('This conversation is no fork of another one.', INFO)
    end
    local params = { from = current.id, into = began.conversationId }
    client.command(link, 'agent/conversation/mergeBack', params, function()
      client.say('What came of it goes with the next message there.', INFO)
    end)
  end)
end

--- Summarizes what is older, between two steps of the run or at once.
function M.compact(words)
  with_current(function(link, current)
    local instructions = vim.trim(words)
    local params = { conversationId = current.id, instructions = instructions ~= '' and instructions or nil }
    client.command(link, 'agent/conversation/compact', params, function()
      client.say('Room is being made; `:Agent stop` gives it up.', INFO)
    end)
  end)
end

function M.rename(words)
  local title = vim.trim(words)
  if title == '' then
    return client.say('Say its new title: `:Agent rename The parser`.')
  end
  update({ title = title }, ('This conversation is `%s` now.'):format(text.one_line(title, 100)))
end

function M.mode(words)
  local mode, current, root = words:match('%S+'), conversation.current(), client.here()
  if not mode then
    local is = current and current.about.mode or state.next_mode[root] or 'ask'
    return client.say(('The mode is `%s`; `:Agent mode ask|edits|plan|auto` changes it.'):format(is), INFO)
  elseif not MODES[mode] then
    return client.say(('There is no mode `%s`: ask, edits, plan or auto.'):format(mode))
  elseif not current and mode ~= 'auto' then
    state.next_mode[root] = mode
    return client.say(('The next conversation begins in mode `%s`.'):format(mode), INFO)
  end
  update({ mode = mode, allowAuto = mode == 'auto' or nil }, ('The mode is `%s` now.'):format(mode))
end

function M.model(words)
  local model = words:match('%S+')
  if not model then
    return with_current(function(_, current)
      local about = current.about
      local sentence = 'The model is `%s` of `%s`; `:Agent model NAME` changes it.'
      client.say(sentence:format(about.model, about.provider), INFO)
    end)
  end
  local offered = state.models[model]
  local provider = offered and offered.provider or nil
  update({ model = model, provider = provider }, ('The model is `%s` now.'):format(model))
end

return M
