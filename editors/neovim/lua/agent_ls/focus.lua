-- Tells the daemon where the person is: which of its windows has the focus, and at which place of which file.

local client = require('agent_ls.client')
local config = require('agent_ls.config')
local state = require('agent_ls.state')

local M = {}

---@param focused boolean
function M.tell(focused)
  if not next(state.links) then
    return
  end
  local buf = vim.api.nvim_get_current_buf()
  local file = vim.bo[buf].buftype == '' and vim.api.nvim_buf_get_name(buf) ~= ''
  local root = file and config.root(buf) or nil
  for _, link in pairs(state.links) do
    local params = { focused = focused }
    if link.root == root then
      local row = vim.api.nvim_win_get_cursor(0)[1] - 1
      params.uri = vim.uri_from_bufnr(buf)
      params.range = { start = { line = row, character = 0 }, ['end'] = { line = row, character = 0 } }
    end
    client.tell(link, 'agent/window/focus', params)
  end
end

return M
