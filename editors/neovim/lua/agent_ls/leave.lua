-- Leaving a window that shows something of ours: closed, or given back to a file where it is the only one.

local M = {}

local function is_only_one()
  local ordinary = vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_config(window).relative == ''
  end, vim.api.nvim_tabpage_list_wins(0))
  return #ordinary == 1 and ordinary[1] == vim.api.nvim_get_current_win() and vim.fn.tabpagenr('$') == 1
end

--- The window one is in.
function M.here()
  if not is_only_one() then
    return vim.cmd.close()
  end
  local other, last = vim.fn.bufnr('#'), require('agent_ls.state').last_file
  for _, buf in ipairs({ last or -1, other }) do
    if buf > 0 and vim.api.nvim_buf_is_loaded(buf) and buf ~= vim.api.nvim_get_current_buf() then
      return vim.api.nvim_set_current_buf(buf)
    end
  end
  vim.cmd.enew()
end

--- Another one, if it is there still.
---@param window integer
function M.window(window)
  if vim.api.nvim_win_is_valid(window) then
    vim.api.nvim_win_call(window, M.here)
  end
end

--- `q` in a buffer of ours.
function M.by_key(buf, desc)
  vim.keymap.set('n', 'q', M.here, { buffer = buf, desc = desc, nowait = true })
end

return M
