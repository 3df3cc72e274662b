-- The link to the daemon: `agent-ls connect` as an LSP client, one for each workspace, started again when it ends.
--
-- Owns starting, the handshake, requests and what a person is told when there is no daemon. Does not own what comes
-- over the link (handlers).

local config = require('agent_ls.config')
local notice = require('agent_ls.notice')
local state = require('agent_ls.state')

local M = {}

M.VERSION = '0.1.0'
local PROTOCOL = 1
local PATIENCE_MS = 20000
local SHORT_LIFE_MS = 2000
local MOST_FAILED = 5
-- The workspace of somebody who stands in a folder that was deleted.
local GONE = ''

---@param root? string nil where `vim.lsp.enable` finds it out
---@return vim.lsp.ClientConfig
function M.lsp_config(root)
  return {
    name = 'agent_ls',
    cmd = function(dispatchers)
      local cmd, trouble = config.command()
      assert(cmd, trouble)
      return vim.lsp.rpc.start(cmd, dispatchers, { cwd = root })
    end,
    root_dir = root or function(buf, on_dir)
      local found = config.root(buf)
      if found and config.command() then
        on_dir(found)
      end
    end,
    init_options = {
      agentLs = {
        client = 'neovim',
        version = M.VERSION,
        protocol = { min = PROTOCOL, max = PROTOCOL },
        features = { 'ui.approval', 'ui.question', 'document.save', 'diagnostics', 'lsp.proxy' },
        prompts = 'none',
      },
    },
    handlers = require('agent_ls.handlers').table(),
    on_init = function(client)
      require('agent_ls').load()
      state.links[client.id] = { id = client.id, root = client.root_dir or '', began = vim.uv.now() }
    end,
    on_exit = function(code, signal, id)
      vim.schedule(function()
        M.ended(id, code, signal)
      end)
    end,
  }
end

--- A file was opened or written.
function M.noticed(buf, event)
  require('agent_ls.documents').on_disk(buf)
  if event ~= 'BufWritePost' and config.options.auto_start then
    M.join(buf)
  end
end

--- The client of the buffer's workspace, started if there is none, gets the buffer.
function M.join(buf)
  local root = config.root(buf)
  if not root or not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  local cmd, trouble = config.command()
  if not cmd then
    return notice.once(assert(trouble))
  end
  vim.lsp.start(M.lsp_config(root), { bufnr = buf, silent = true })
end

---@return agent_ls.Link?
function M.link(root)
  for _, link in pairs(state.links) do
    if link.root == root then
      return link
    end
  end
end

--- Where a command is meant for: the workspace of the buffer one is in, or of the transcript one reads.
function M.here()
  local buf = vim.api.nvim_get_current_buf()
  local conversation = require('agent_ls.conversation').of_buffer(buf)
  if conversation then
    return conversation.root
  end
  if vim.bo[buf].buftype ~= '' and state.last_file and vim.api.nvim_buf_is_valid(state.last_file) then
    buf = state.last_file
  end
  local cwd = vim.uv.cwd()
  return config.root(buf) or (cwd and vim.uv.fs_realpath(cwd)) or cwd or GONE
end

--- Calls back with a link that the daemon has greeted, or with why there is none.
---@param root string
---@param ready fun(link?: agent_ls.Link, trouble?: string)
function M.ensure(root, ready)
  local link = M.link(root)
  if link and link.hello then
    return ready(link)
  elseif root == GONE then
    return ready(nil, 'The folder you are in is gone; `:cd` to one that is there.')
  end
  local cmd, trouble = config.command()
  if not cmd then
    return ready(nil, trouble)
  end
  local waiting = state.waiting[root] or {}
  state.waiting[root] = waiting
  table.insert(waiting, ready)
  if #waiting == 1 then
    state.failed[root] = 0
    vim.defer_fn(function()
      if state.waiting[root] == waiting then
        M.answer_waiting(root, nil, 'agent-ls did not answer. `agent-ls doctor` in a terminal shows what is wrong.')
      end
    end, PATIENCE_MS)
  end
  if not link then
    vim.lsp.start(M.lsp_config(root), { attach = false, silent = true })
  end
end

function M.answer_waiting(root, link, trouble)
  local waiting = state.waiting[root] or {}
  state.waiting[root] = nil
  for _, ready in ipairs(waiting) do
    ready(link, trouble)
  end
end

--- `agent/hello`: a new link, or a new daemon behind it.
function M.greeted(link, hello)
  if hello.protocol ~= PROTOCOL then
    local sentence = 'This daemon speaks protocol %s, the plugin %d; update the older one.'
    return notice.say(sentence:format(hello.protocol, PROTOCOL))
  end
  local new = not link.hello or link.hello.bootId ~= hello.bootId
  link.hello = hello
  state.failed[link.root] = 0
  if new then
    require('agent_ls.conversation').on_link(link)
    require('agent_ls.language').all(link)
  end
  M.answer_waiting(link.root, link)
  require('agent_ls.status').changed()
end

--- The server has ended. Stopped by the person it stays so; otherwise it is started again.
function M.ended(id, code, signal)
  local link = state.links[id]
  state.links[id] = nil
  require('agent_ls.status').changed()
  local stopped = (code == 0 and signal == 0) or signal == 15
  if stopped or vim.v.exiting ~= vim.NIL or not link then
    local roots = link and { link.root } or vim.tbl_keys(state.waiting)
    for _, root in ipairs(roots) do
      M.answer_waiting(root, nil, 'agent-ls could not start. `agent-ls doctor` in a terminal shows why.')
    end
    return
  end
  local short = vim.uv.now() - link.began < SHORT_LIFE_MS
  local failed = short and (state.failed[link.root] or 0) + 1 or 1
  state.failed[link.root] = failed
  if failed > MOST_FAILED then
    local sentence = 'agent-ls ends as soon as it is started; `agent-ls log` shows why. The next :Agent tries again.'
    M.answer_waiting(link.root, nil, sentence)
    return notice.say(sentence, vim.log.levels.WARN)
  end
  vim.defer_fn(function()
    M.start_again(link.root)
  end, 50 * 2 ^ failed)
end

function M.start_again(root)
  if M.link(root) or not config.command() then
    return
  end
  vim.lsp.start(M.lsp_config(root), { attach = false, silent = true })
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' and vim.api.nvim_buf_get_name(buf) ~= '' then
      if config.root(buf) == root then
        M.join(buf)
      end
    end
  end
end

--- A sentence that says what to do next.
local function sentence_of(err)
  local data = type(err.data) == 'table' and err.data or {}
  local hint = type(data.hint) == 'string' and data.hint ~= '' and ' ' .. data.hint or ''
  return ('%s%s'):format(data.message or err.message or 'agent-ls could not do that.', hint)
end

--- Asks the daemon. `done` gets the result; trouble goes to `failed`, or to the person.
---@param link agent_ls.Link
---@param done? fun(result: table)
---@param failed? fun(sentence: string, code?: string)
function M.request(link, method, params, done, failed)
  local client = vim.lsp.get_client_by_id(link.id)
  local function trouble(sentence, code)
    (failed or notice.say)(sentence, failed and code or nil)
  end
  if not client or client:is_stopped() then
    return trouble('The link to the daemon is down and comes back by itself; try again in a moment.')
  end
  client:request(method, params, function(err, result)
    if err then
      trouble(sentence_of(err), type(err.data) == 'table' and err.data.code or nil)
    elseif done then
      done(result or {})
    end
  end)
end

--- A command: something that changes, with an id of its own.
function M.command(link, method, params, done, failed)
  local bytes = assert(vim.uv.random(16))
  local id = bytes:gsub('.', function(byte)
    return ('%02x'):format(byte:byte())
  end)
  M.request(link, method, vim.tbl_extend('error', params, { commandId = id }), done, failed)
end

--- Calls on with a link, or tells the person why there is none.
---@param work fun(link: agent_ls.Link)
---@param failed? fun(sentence: string)
function M.with(root, work, failed)
  M.ensure(root, function(link, trouble)
    if link then
      work(link)
    else
      (failed or notice.say)(trouble)
    end
  end)
end

--- A notification, where there is somebody to hear it.
function M.tell(link, method, params)
  local client = vim.lsp.get_client_by_id(link.id)
  if client and link.hello and not client:is_stopped() then
    client:notify(method, params)
  end
end

M.say = notice.say

return M
