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

--- A buffer gets another name: the daemon is told that the file of the old one is closed here, and then what it holds
--- under the new one. Neovim says so itself only when the buffer is written.
function M.renames(buf)
  state.disk[buf] = nil
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf, name = 'agent_ls' })) do
    vim.lsp.buf_detach_client(buf, client.id)
    state.renamed[buf] = true
  end
end

function M.renamed(buf)
  if state.renamed[buf] then
    state.renamed[buf] = nil
    require('agent_ls.client').join(buf)
  end
end

local function same_text(buf, name)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local read, disk = pcall(vim.fn.readfile, name)
  return read and vim.deep_equal(lines, disk)
end

--- The agent has changed this file, or will have in a moment.
function M.written(uri)
  local file = vim.uri_to_fname(uri)
  state.written[vim.uv.fs_realpath(file) or file] = true
end

--- `FileChangedShell`: of a file that the agent wrote nobody is asked anything, and unsaved text stays as it is. Of any
--- other file Neovim asks as it always does, unless another plugin decides.
function M.changed_on_disk(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  local ours = state.written[vim.uv.fs_realpath(name) or name]
  if ours or (vim.v.fcs_reason ~= 'deleted' and same_text(buf, name)) then
    local clean = not vim.bo[buf].modified and vim.v.fcs_reason == 'changed'
    vim.v.fcs_choice = clean and 'reload' or ''
    if not clean and vim.v.fcs_reason == 'conflict' and not same_text(buf, name) then
      local sentence = 'The agent has changed %s on disk; your unsaved text is kept, and `:edit!` takes what is there.'
      require('agent_ls.notice').say(sentence:format(vim.fs.basename(name)), vim.log.levels.WARN)
    end
  elseif #vim.api.nvim_get_autocmds({ event = 'FileChangedShell' }) == 1 then
    vim.v.fcs_choice = 'ask'
  end
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
  -- Nobody has agreed to a line end at the end of a file that had none.
  local fix = vim.bo[buf].fixeol
  vim.bo[buf].fixeol = false
  local done = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd('silent lockmarks update')
  end)
  vim.bo[buf].fixeol = fix
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
