-- What Tab offers after `:Agent`.

local approvals = require('agent_ls.approvals')
local state = require('agent_ls.state')

local M = {}

local function numbers()
  return vim.tbl_map(function(held)
    return tostring(held.request.number)
  end, approvals.pending())
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

function M.words(lead, line)
  local before = vim.split(line:gsub('^.-Agent!?%s+', ''), '%s+')
  local verb = before[1]
  local found = {}
  if #before <= 1 then
    found = vim.tbl_keys(require('agent_ls.commands').VERBS)
    table.sort(found)
  elseif verb == 'approve' then
    found = vim.list_extend(#before == 2 and { 'once', 'conversation' } or {}, numbers())
  elseif verb == 'deny' or verb == 'show' or verb == 'answer' then
    found = #before == 2 and numbers() or {}
  elseif verb == 'attach' then
    return conversations(lead)
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, found)
end

return M
