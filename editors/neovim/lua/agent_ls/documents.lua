-- Saving a file that the agent has edited through this window.
--
-- Owns that a save of ours never makes Neovim ask anything: where the disk is not as it was read, it is left to the
-- person.

local state = require('agent_ls.state')

local M = {}

local function stamp(file)
  local stat = vim.uv.fs_stat(file)
  return stat and { sec = stat.mtime.sec, nsec = stat.mtime.nsec, size = stat.size } or {}
end

--- The buffer is as the disk just now: it was read or written.
function M.on_disk(buf)
  state.disk[buf] = stamp(vim.api.nvim_buf_get_name(buf))
end

---@return { saved: boolean }
function M.save(uri)
  local buf = M.loaded(uri)
  local known = buf and state.disk[buf]
  if not buf or not vim.bo[buf].modifiable or vim.bo[buf].readonly then
    return { saved = false }
  end
  local name = vim.api.nvim_buf_get_name(buf)
  if known and not vim.deep_equal(known, stamp(name)) then
    return { saved = false }
  end
  local done = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd('silent lockmarks update')
  end)
  return { saved = done and not vim.bo[buf].modified }
end

--- The loaded buffer of a file.
---@return integer?
function M.loaded(uri)
  local file = vim.uri_to_fname(uri)
  local real = vim.uv.fs_realpath(file) or file
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' then
      local name = vim.api.nvim_buf_get_name(buf)
      if name ~= '' and (name == file or vim.uv.fs_realpath(name) == real) then
        return buf
      end
    end
  end
end

return M
