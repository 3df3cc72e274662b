-- What there is to look at beside the conversation: changes, locks, rules, shells, the log, how it stands.

local client = require('agent_ls.client')
local conversation = require('agent_ls.conversation')
local config = require('agent_ls.config')
local list = require('agent_ls.list')
local state = require('agent_ls.state')
local text = require('agent_ls.text')
local typing = require('agent_ls.typing')

local M = {}

local INFO = vim.log.levels.INFO

--- One list of the daemon: asked for, shown, and asked for again after a key has changed something.
local function shown(name, method, params, what)
  local there = typing.watch()
  client.with(client.here(), function(link)
    client.request(link, method, params, function(answer)
      local found = answer[name] or {}
      if #found == 0 then
        return client.say(what.none, INFO)
      end
      local entries = vim.tbl_map(function(one)
        return { what.line(one), value = one }
      end, found)
      local keys = {}
      if what.key then
        keys[1] = {
          what.key,
          what.does,
          function(one, close)
            what.act(link, one, close)
          end,
        }
      end
      list.open({ name = name, title = what.title, entries = entries, keys = keys, there = there() })
    end)
  end)
end

function M.locks()
  shown('locks', 'agent/lock/list', vim.empty_dict(), {
    title = 'files and folders that are held',
    none = 'Nothing is held.',
    line = function(lock)
      local waiting = (lock.waiting or 0) > 0 and ('  · %d wait'):format(lock.waiting) or ''
      return ('%s%s  · %s'):format(text.one_line(text.path(lock.key), 200), waiting, lock.conversationId)
    end,
    key = 't',
    does = 't takes it over',
    act = function(link, lock, close)
      client.command(link, 'agent/lock/release', { key = lock.key }, function()
        close()
        client.say('It is yours; who held it is told.', INFO)
      end)
    end,
  })
end

function M.rules()
  local current = conversation.current()
  local params = { workspace = vim.uri_from_fname(client.here()), conversationId = current and current.id or nil }
  shown('rules', 'agent/permission/list', params, {
    title = 'rules: what runs, asks and never runs',
    none = 'There are no rules; `agent-ls rules add` in a terminal, or an "always" on a card, makes one.',
    line = function(rule)
      local origin = text.one_line(rule.origin or rule.scope)
      return ('%-5s %s  · %s'):format(rule.effect, text.one_line(rule.rule, 300), origin)
    end,
    key = 'x',
    does = 'x removes one that was kept',
    act = function(link, rule, close)
      if type(rule.id) ~= 'string' then
        return client.say(('It stands in %s; change it there.'):format(text.one_line(rule.origin or '')), INFO)
      end
      client.command(link, 'agent/permission/remove', { ruleId = rule.id }, function()
        close()
        client.say(('Removed: %s %s.'):format(rule.effect, text.one_line(rule.rule, 200)), INFO)
      end)
    end,
  })
end

function M.shells()
  shown('shells', 'agent/shell/list', vim.empty_dict(), {
    title = 'background shells',
    none = 'No background shell runs.',
    line = function(shell)
      return ('$ %s  · in %s'):format(text.one_line(shell.command, 200), text.one_line(text.path(shell.cwd)))
    end,
    key = 'x',
    does = 'x ends it with all that it has started',
    act = function(link, shell, close)
      client.command(link, 'agent/shell/stop', { shellId = shell.id }, function()
        close()
        client.say('It is ended.', INFO)
      end)
    end,
  })
end

--- The end of the daemon's log.
function M.log()
  local cmd, trouble = config.command()
  if not cmd then
    return client.say(assert(trouble))
  end
  local there = typing.watch()
  vim.system({ cmd[1], 'log' }, { text = true, timeout = 5000 }, function(done)
    vim.schedule(function()
      local said = vim.trim(done.stdout or '')
      if said == '' then
        return client.say('The log is empty.', INFO)
      end
      local entries = vim.tbl_map(function(line)
        return { text.escaped(line) }
      end, vim.split(said, '\n', { plain = true }))
      local shown = { name = 'log', title = 'the log of the daemon', entries = entries, keys = {}, there = there() }
      local window = list.open(shown)
      if window then
        vim.api.nvim_win_set_cursor(window, { #entries, 0 })
      end
    end)
  end)
end

--- What was said in the corner, or on the command line, and has gone.
function M.notices()
  local told = state.notice.told
  if #told == 0 then
    return client.say('You were told nothing yet.', INFO)
  end
  local entries = vim.tbl_map(function(sentence)
    return { (sentence:gsub('\n', ' ')) }
  end, told)
  local window = list.open({ name = 'notices', title = 'what you were told', entries = entries, keys = {} })
  if window then
    vim.wo[window].wrap = true
    vim.api.nvim_win_set_cursor(window, { #entries, 0 })
  end
end

function M.review(words)
  local current = conversation.current()
  if not current then
    return client.say('There is no conversation here yet; `:Agent ask …` begins one.', INFO)
  end
  require('agent_ls.review').open(current, words:match('%S+'))
end

function M.status()
  client.with(client.here(), function(link)
    local said = require('agent_ls.status').status()
    local hello = link.hello
    said = said ~= '' and said or 'agent: idle'
    client.say(('%s (agent-ls %s, daemon %d)'):format(said, hello.daemonVersion, hello.pid), INFO)
  end)
end

return M
