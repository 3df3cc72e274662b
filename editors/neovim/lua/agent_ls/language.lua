-- What the other language servers of this Neovim say: told to the daemon as it changes, and asked for when it asks.
--
-- Owns that only questions which change nothing are passed on, and that waiting for an answer holds nothing up.

local client = require('agent_ls.client')
local config = require('agent_ls.config')
local state = require('agent_ls.state')

local M = {}

local SOURCE = 'agent-ls'
local ANSWER_MS = 8000
local READS = {
  ['workspace/symbol'] = true,
  ['textDocument/references'] = true,
  ['textDocument/definition'] = true,
  ['textDocument/declaration'] = true,
  ['textDocument/typeDefinition'] = true,
  ['textDocument/implementation'] = true,
  ['textDocument/documentSymbol'] = true,
  ['textDocument/hover'] = true,
}

--- Diagnostics of a buffer as LSP writes them, without those of ours.
local function of_buffer(buf)
  local found = {}
  for _, one in ipairs(vim.diagnostic.get(buf)) do
    if one.source ~= SOURCE then
      found[#found + 1] = {
        range = {
          start = { line = one.lnum, character = one.col },
          ['end'] = { line = one.end_lnum or one.lnum, character = one.end_col or one.col },
        },
        severity = one.severity,
        message = one.message,
        source = one.source,
      }
    end
  end
  return found
end

local function tell(buf)
  state.remarked[buf] = nil
  if not vim.api.nvim_buf_is_loaded(buf) or vim.bo[buf].buftype ~= '' or vim.api.nvim_buf_get_name(buf) == '' then
    return
  end
  local link = client.link(config.root(buf))
  local diagnostics = of_buffer(buf)
  if not link or (#diagnostics == 0 and not state.told[buf]) then
    return
  end
  state.told[buf] = true
  client.tell(link, 'agent/diagnostics', {
    uri = vim.uri_from_bufnr(buf),
    version = vim.lsp.util.buf_versions[buf],
    diagnostics = diagnostics,
  })
end

--- The diagnostics of a buffer are different; what changes together is told together.
function M.changed(buf)
  if next(state.links) and not state.remarked[buf] then
    state.remarked[buf] = true
    vim.schedule(function()
      tell(buf)
    end)
  end
end

--- A new daemon knows nothing of what was said before.
function M.all(link)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and config.root(buf) == link.root then
      M.changed(buf)
    end
  end
end

local function refusal(sentence)
  return nil, vim.lsp.rpc_response_error(vim.lsp.protocol.ErrorCodes.InvalidRequest, sentence)
end

--- Servers that were started in this workspace, or in a folder of it, and can do this.
local function able(link, method)
  return vim.tbl_filter(function(other)
    local root = other.root_dir and (vim.uv.fs_realpath(other.root_dir) or other.root_dir)
    local near = root and (vim.fs.relpath(link.root, root) or vim.fs.relpath(root, link.root))
    return other.name ~= 'agent_ls' and near ~= nil and other:supports_method(method)
  end, vim.lsp.get_clients())
end

--- `agent/lsp/request`. Runs in the coroutine that Neovim makes for each request of a server: it waits there, and
--- everything else goes on.
function M.answer(link, params)
  local method = params.method
  if not READS[method] then
    return refusal('This window passes on questions only, and `' .. tostring(method) .. '` is none.')
  end
  local others = able(link, method)
  local running = coroutine.running()
  if #others == 0 or not running then
    return refusal('No language server of this window can answer that.')
  end
  local given = type(params.params) == 'table' and params.params or vim.empty_dict()
  local open, found, over = #others, {}, false
  local function settle()
    if not over then
      over = true
      vim.schedule(function()
        coroutine.resume(running)
      end)
    end
  end
  for _, other in ipairs(others) do
    local sent = other:request(method, given, function(_, result)
      open = open - 1
      found[#found + 1] = result
      if open == 0 then
        settle()
      end
    end)
    open = sent and open or open - 1
  end
  vim.defer_fn(settle, open == 0 and 0 or ANSWER_MS)
  coroutine.yield()
  return M.joined(found)
end

--- Answers of several servers as one: lists are joined, of anything else the first counts.
function M.joined(found)
  local lists = {}
  for _, result in ipairs(found) do
    if type(result) == 'table' then
      if not vim.islist(result) then
        return result
      end
      vim.list_extend(lists, result)
    end
  end
  return lists
end

return M
