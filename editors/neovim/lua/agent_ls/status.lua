-- The state in a few words, for a statusline, and the `User` autocommands that say that it changed.

local state = require('agent_ls.state')

local M = {}

local function summary()
  local conversation = require('agent_ls.conversation').current()
  return conversation, conversation and state.summaries[conversation.id]
end

--- What waits for the person and is shown in this Neovim.
function M.waiting()
  return vim.tbl_count(state.requests)
end

--- `agent: running · 2 wait`; empty where there is nothing to say.
---@return string
function M.status()
  local conversation, known = summary()
  local parts = {}
  if conversation then
    local status = (known or conversation.about).status or 'idle'
    local retry = require('agent_ls.countdown').said(conversation)
    parts[1] = status == 'waiting' and 'waits for you' or retry or status
  end
  local waiting = M.waiting()
  if waiting > 0 then
    parts[#parts + 1] = ('%d to answer'):format(waiting)
  end
  return #parts > 0 and 'agent: ' .. table.concat(parts, ' · ') or ''
end

--- Something that a statusline shows may be different.
function M.changed()
  M.fire('AgentLsChanged', { status = M.status() })
  vim.cmd('redrawstatus!')
end

---@param pattern string
---@param data table
function M.fire(pattern, data)
  vim.api.nvim_exec_autocmds('User', { pattern = pattern, modeline = false, data = data })
end

return M
