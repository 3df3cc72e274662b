-- The conversations of a workspace, one line each, in a window that is opened because the person asked for it.
--
-- Owns the list and its keys. Does not own what attaching does (commands) nor which conversations there are.

local state = require('agent_ls.state')
local text = require('agent_ls.text')

local M = {}

local NAME = 'agent-ls://conversations'

local function newest_first(workspace)
  local found = vim.tbl_filter(function(summary)
    return summary.workspace == workspace
  end, vim.tbl_values(state.summaries))
  table.sort(found, function(one, other)
    return (one.updatedAt or '') > (other.updatedAt or '')
  end)
  return found
end

local function said(value)
  return type(value) == 'string' and value ~= '' and value or nil
end

local function line_of(summary, current)
  local mark = summary.id == current and '›' or ' '
  local title = text.one_line(said(summary.title) or said(summary.lastText) or '(untitled)', 60)
  local waits = (summary.pendingRequests or 0) > 0 and (', %d to answer'):format(summary.pendingRequests) or ''
  return ('%s %s  · %s%s · %s'):format(mark, title, summary.status or '', waits, summary.id)
end

--- Shows what there is in a workspace; `attach` gets the id of the one that the person picks.
---@param root string
---@param attach fun(id: string)
---@return boolean? shown nothing where there is none
function M.open(root, attach)
  local found = newest_first(vim.uri_from_fname(root))
  if #found == 0 then
    return nil
  end
  local old = vim.fn.bufnr('^' .. NAME .. '$')
  if old > 0 then
    vim.api.nvim_buf_delete(old, { force = true })
  end
  local lines = vim.tbl_map(function(summary)
    return line_of(summary, state.current[root])
  end, found)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, NAME)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable, vim.bo[buf].bufhidden = false, 'wipe'
  local height = math.min(#lines + 1, math.floor(vim.o.lines / 3))
  local window = vim.api.nvim_open_win(buf, true, { split = 'below', win = -1, height = height })
  vim.wo[window].wrap, vim.wo[window].number, vim.wo[window].cursorline = false, false, true
  vim.wo[window].winbar = ' conversations, the newest first%=Enter attaches · q closes '
  vim.keymap.set('n', '<CR>', function()
    local picked = found[vim.api.nvim_win_get_cursor(0)[1]]
    vim.cmd.close()
    attach(picked.id)
  end, { buffer = buf, desc = 'Attach to this conversation' })
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buf, desc = 'Close the list' })
  return true
end

return M
