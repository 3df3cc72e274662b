-- A list in a window of its own, one line each, opened because the person asked for it.
--
-- Owns the window, its keys and that they mean the entry under the cursor. Does not own what a key does.

local leave = require('agent_ls.leave')

local M = {}

---@class agent_ls.ListKey
---@field [1] string the key
---@field [2] string what it does
---@field [3] fun(value: any, close: fun()) does it; `close` closes this list, wherever the person is by then

---@class agent_ls.List
---@field name string
---@field title string
---@field entries { [1]: string, value: any }[]
---@field keys agent_ls.ListKey[]
---@field there? boolean the person is where they have asked for it: the cursor goes into the list

--- The buffer of that name, made anew.
local function buffer(name, lines)
  local full = 'agent-ls://' .. name
  local old = vim.fn.bufnr('^' .. full .. '$')
  if old > 0 then
    vim.api.nvim_buf_delete(old, { force = true })
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, full)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable, vim.bo[buf].bufhidden = false, 'wipe'
  return buf
end

---@param list agent_ls.List
---@return integer? window nothing in the command-line window, from which Neovim opens none
function M.open(list)
  if vim.fn.getcmdwintype() ~= '' then
    return nil
  end
  local lines = vim.tbl_map(function(entry)
    return entry[1]
  end, list.entries)
  local buf = buffer(list.name, lines)
  local height = math.min(#lines + 1, math.floor(vim.o.lines / 3))
  local window = vim.api.nvim_open_win(buf, list.there ~= false, { split = 'below', win = -1, height = height })
  local wo = vim.wo[window]
  wo.wrap, wo.number, wo.relativenumber, wo.signcolumn, wo.cursorline = false, false, false, 'no', true
  local function close()
    leave.window(window)
  end
  local words = {}
  for _, key in ipairs(list.keys) do
    words[#words + 1] = key[2]
    vim.keymap.set('n', key[1], function()
      local entry = list.entries[vim.api.nvim_win_get_cursor(0)[1]]
      if entry and entry.value then
        key[3](entry.value, close)
      end
    end, { buffer = buf, desc = key[2], nowait = true })
  end
  words[#words + 1] = 'q closes'
  wo.winbar = (' %s%%=%s '):format(list.title:gsub('%%', '%%%%'), table.concat(words, ' · '))
  leave.by_key(buf, 'Close the list')
  return window
end

return M
