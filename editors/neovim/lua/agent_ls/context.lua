-- What goes with a message beside its words: lines, files that it names by `@`, diagnostics, open buffers.
--
-- Owns which words mean what. Of a file the daemon knows the text, unsaved changes included; of the rest it is told.

local M = {}

local MOST_DIAGNOSTICS = 50
local SEVERITIES = { 'error', 'warning', 'information', 'hint' }

--- Words that stand for more than a file.
M.WORDS = {
  buffers = 'the files that are open',
  diagnostics = 'what the language servers say of the file you were in last',
}

local function is_file(buf)
  return vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' and vim.api.nvim_buf_get_name(buf) ~= ''
end

local function diagnostics_of(buf, first, last)
  local lines = {}
  for _, one in ipairs(vim.diagnostic.get(buf)) do
    local inside = not first or (one.lnum + 1 >= first and one.lnum + 1 <= last)
    if inside and one.source ~= 'agent-ls' and #lines < MOST_DIAGNOSTICS then
      local where = ('%d:%d'):format(one.lnum + 1, one.col + 1)
      local said = one.message:gsub('%s+', ' ')
      lines[#lines + 1] = ('%s %s %s: %s'):format(where, SEVERITIES[one.severity] or '', one.source or '', said)
    end
  end
  if #lines == 0 then
    return nil
  end
  return { type = 'diagnostics', uri = vim.uri_from_bufnr(buf), text = table.concat(lines, '\n') }
end

--- The lines of a command's range, and what is wrong with them.
function M.range(opts)
  if not opts or (opts.range or 0) == 0 then
    return {}
  end
  local buf = vim.api.nvim_get_current_buf()
  local lines = vim.api.nvim_buf_get_lines(buf, opts.line1 - 1, opts.line2, false)
  local found = {
    {
      type = 'selection',
      uri = vim.api.nvim_buf_get_name(buf) ~= '' and vim.uri_from_bufnr(buf) or nil,
      range = {
        start = { line = opts.line1 - 1, character = 0 },
        ['end'] = { line = opts.line2, character = 0 },
      },
      text = table.concat(lines, '\n'),
    },
  }
  if is_file(buf) then
    found[2] = diagnostics_of(buf, opts.line1, opts.line2)
  end
  return found
end

local function buffers(root)
  local found = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if is_file(buf) and vim.bo[buf].buflisted and require('agent_ls.config').root(buf) == root then
      found[#found + 1] = { type = 'openFile', uri = vim.uri_from_bufnr(buf) }
    end
  end
  return found
end

--- What a text names: `@buffers`, `@diagnostics`, `@path/of/a/file`.
---@return table[]
function M.mentioned(said, root)
  local found, seen = {}, {}
  for before, word in (' ' .. said):gmatch('([%s(])@([^%s]+)') do
    word = word:gsub('[.,;:!?)]+$', '')
    if not seen[word] and before then
      seen[word] = true
      local last = require('agent_ls.state').last_file
      local path = vim.fs.joinpath(root, word)
      local stat = vim.uv.fs_stat(path)
      if word == 'buffers' then
        vim.list_extend(found, buffers(root))
      elseif word == 'diagnostics' and last and is_file(last) then
        found[#found + 1] = diagnostics_of(last)
      elseif stat and stat.type == 'file' then
        found[#found + 1] = { type = 'file', uri = vim.uri_from_fname(path) }
      end
    end
  end
  return found
end

return M
