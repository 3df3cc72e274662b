-- What Tab offers after `:Agent`.

local approvals = require('agent_ls.approvals')
local client = require('agent_ls.client')
local commands = require('agent_ls.commands')
local state = require('agent_ls.state')

local M = {}

local function numbers(...)
  local kinds = { ... }
  local found = {}
  for _, held in ipairs(approvals.pending()) do
    if #kinds == 0 or vim.tbl_contains(kinds, held.request.kind) then
      found[#found + 1] = tostring(held.request.number)
    end
  end
  return found
end

--- Ids with their titles, the newest first; what follows the id is not read.
local function conversations(lead)
  local known = vim.tbl_values(state.summaries)
  table.sort(known, function(one, other)
    return (one.updatedAt or '') > (other.updatedAt or '')
  end)
  local found = {}
  for _, summary in ipairs(known) do
    local title = type(summary.title) == 'string' and summary.title or ''
    local line = vim.trim(summary.id .. ' ' .. require('agent_ls.text').one_line(title, 60))
    if vim.startswith(line, lead) then
      found[#found + 1] = line
    end
  end
  return found
end

--- Known from the last time that they were asked for; asking for them again goes on meanwhile.
local function models()
  local link = client.link(client.here())
  if link and link.hello then
    client.request(link, 'agent/model/list', vim.empty_dict(), function(answer)
      for _, model in ipairs(answer.models or {}) do
        state.models[model.id] = model
      end
    end, function() end)
  end
  local found = vim.tbl_keys(state.models)
  table.sort(found)
  return found
end

local OFFERED = {
  answer = function()
    return numbers('question')
  end,
  approve = function()
    return vim.list_extend({ 'once', 'conversation', 'workspace' }, numbers('approval', 'plan'))
  end,
  deny = numbers,
  edit = function()
    return numbers('approval', 'plan')
  end,
  mode = function()
    return { 'ask', 'edits', 'plan', 'auto' }
  end,
  model = models,
  plan = function()
    return numbers('plan')
  end,
  review = function()
    return { 'all' }
  end,
  show = numbers,
}

function M.words(lead, line)
  local before = vim.split(line:gsub('^.-Agent!?%s+', ''), '%s+')
  local verb = before[1]
  local found = {}
  if #before <= 1 then
    found = vim.tbl_keys(commands.VERBS)
    table.sort(found)
  elseif verb == 'attach' then
    return conversations(lead)
  elseif #before == 2 and OFFERED[verb] then
    found = OFFERED[verb]()
  elseif #before == 3 and verb == 'approve' then
    found = numbers('approval', 'plan')
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, found)
end

return M
