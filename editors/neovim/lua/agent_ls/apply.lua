-- Edits that the daemon makes in buffers: made as they were meant, in one undo step, or refused with the reason.
--
-- Owns the answer. Neovim's own handler says of an edit that it has skipped, because somebody typed meanwhile, that it
-- was made, and prints a line about it.

local documents = require('agent_ls.documents')

local M = {}

local function name_of(buf)
  return vim.fs.basename(vim.api.nvim_buf_get_name(buf))
end

--- Why a buffer cannot take this edit.
---@return string? trouble
local function trouble(buf, version)
  if not vim.bo[buf].modifiable then
    return ("the buffer of %s is 'nomodifiable'"):format(name_of(buf))
  elseif vim.bo[buf].readonly then
    return ("the buffer of %s is 'readonly'"):format(name_of(buf))
  elseif type(version) == 'number' and version < (vim.lsp.util.buf_versions[buf] or version) then
    return ('somebody has typed in %s meanwhile'):format(name_of(buf))
  end
end

--- What is typed is a step of its own, and so is this, even in the middle of an insert.
local function new_undo_step(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

local function refused(reason)
  return { applied = false, failureReason = reason }
end

---@param params lsp.ApplyWorkspaceEditParams
---@param encoding string
---@return lsp.ApplyWorkspaceEditResult
function M.edit(params, encoding)
  local changes = params.edit.documentChanges or {}
  local found = {}
  for place, change in ipairs(changes) do
    local buf = change.textDocument and documents.loaded(change.textDocument.uri)
    if not buf then
      return refused('it is not open here any more')
    end
    local reason = trouble(buf, change.textDocument.version)
    if reason then
      return refused(reason)
    end
    found[place] = buf
  end
  for place, change in ipairs(changes) do
    local buf = found[place]
    new_undo_step(buf)
    local made, why = pcall(vim.lsp.util.apply_text_edits, change.edits, buf, encoding)
    new_undo_step(buf)
    if not made then
      return refused((tostring(why):gsub('^.*:%d+: ', '')))
    end
  end
  return { applied = true }
end

return M
