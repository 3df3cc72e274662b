-- A list in a window of its own, one line each, opened because the person asked for it.
--
-- Owns the window, its keys and that they mean the entry under the cursor. Does not own what a key does.

local M = {}

--- `keys` are { key, what it does, fun(value, again) }; `q` closes.
---@param name string
---@param title string
---@param entries { [1]: string, value: any }[]
---@param keys { [1]: string, [2]: string, [3]: fun(value: any) }[]
function M.open(name, title, entries, keys)
  local full = 'agent-ls://' .. name
  local old = vim.fn.bufnr('^' .. full .. '$')
  if old > 0 then
    vim.api.nvim_buf_delete(old, { force = true })
  end
  local lines = vim.tbl_map(function(entry)
    return entry[1]
  end, entries)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, full)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable, vim.bo[buf].bufhidden = false, 'wipe'
  local height = math.min(#lines + 1, math.floor(vim.o.lines / 3))
  local window = vim.api.nvim_open_win(buf, true, { split = 'below', win = -1, height = height })
  vim.wo[window].wrap, vim.wo[window].number, vim.wo[window].cursorline = false, false, true
  local words = {}
  for _, key in ipairs(keys) do
    words[#words + 1] = key[2]
    vim.keymap.set('n', key[1], function()
      local entry = entries[vim.api.nvim_win_get_cursor(window)[1]]
      if entry and entry.value then
        key[3](entry.value)
      end
    end, { buffer = buf, desc = key[2], nowait = true })
  end
  words[#words + 1] = 'q closes'
  vim.wo[window].winbar = (' %s%%=%s '):format(title:gsub('%%', '%%%%'), table.concat(words, ' · '))
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buf, desc = 'Close the list', nowait = true })
end

return M
