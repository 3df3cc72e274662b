-- Whether the person is in the middle of something that must not move under their hands.

local M = {}

--- Inserting, replacing, selecting, a command line, an operator that waits for its motion, and one command (`<C-o>`)
--- from within these.
---@param mode string as `nvim_get_mode` and `v:event` of ModeChanged say it
function M.is(mode)
  return mode:find('^[iRsSc\19]') ~= nil or mode:find('^n[io]') ~= nil
end

function M.now()
  return M.is(vim.api.nvim_get_mode().mode)
end

--- Looks where the person is, for work that is done later: whether they are there still, and typing nothing. What they
--- have asked for takes the focus only then.
---@return fun(): boolean
function M.watch()
  local window, buf = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  return function()
    local same = vim.api.nvim_get_current_win() == window and vim.api.nvim_get_current_buf() == buf
    return same and vim.api.nvim_get_mode().mode == 'n' and vim.fn.getcmdwintype() == ''
  end
end

return M
