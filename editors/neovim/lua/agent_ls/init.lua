-- What other configuration calls: `setup`, which is optional, and `status` for a statusline.

local M = {}

local LINKS = {
  AgentLsCard = 'DiagnosticWarn',
  AgentLsCommand = 'Special',
  AgentLsDim = 'Comment',
  AgentLsAdded = 'Added',
  AgentLsRemoved = 'Removed',
  AgentLsHunk = 'Comment',
  AgentLsWarning = 'DiagnosticError',
  AgentLsUser = 'Title',
  AgentLsHead = 'Comment',
  AgentLsRunning = 'DiagnosticInfo',
  AgentLsDone = 'DiagnosticOk',
  AgentLsFailed = 'DiagnosticError',
  AgentLsStopped = 'DiagnosticWarn',
  AgentLsNotice = 'DiagnosticWarn',
}

--- Highlights and the autocommands that a link needs; done once, at the first use.
function M.load()
  local state = require('agent_ls.state')
  if state.loaded then
    return
  end
  state.loaded = true
  for name, link in pairs(LINKS) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
  local function note_file()
    local buf = vim.api.nvim_get_current_buf()
    if vim.bo[buf].buftype == '' and vim.api.nvim_buf_get_name(buf) ~= '' then
      state.last_file = buf
    end
  end
  note_file()
  local group = vim.api.nvim_create_augroup('agent_ls_live', {})
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, callback = callback })
  end
  on({ 'BufEnter', 'WinEnter', 'BufWinEnter' }, function()
    note_file()
    vim.schedule(require('agent_ls.approvals').draw)
  end)
  on({ 'WinScrolled', 'WinResized', 'WinClosed' }, function()
    vim.schedule(require('agent_ls.approvals').draw)
  end)
  on({ 'DiagnosticChanged' }, function(event)
    require('agent_ls.language').changed(event.buf)
  end)
  on({ 'FocusGained', 'FocusLost' }, function(event)
    require('agent_ls.focus').tell(event.event == 'FocusGained')
  end)
  on({ 'BufFilePre' }, function(event)
    require('agent_ls.documents').renames(event.buf)
  end)
  on({ 'BufFilePost' }, function(event)
    require('agent_ls.documents').renamed(event.buf)
  end)
  on({ 'FileChangedShell' }, function(event)
    require('agent_ls.documents').changed_on_disk(event.buf)
  end)
  on({ 'VimResized' }, function()
    require('agent_ls.window').fit()
  end)
  on({ 'ModeChanged' }, function()
    local is = require('agent_ls.typing').is
    if is(vim.v.event.old_mode) and not is(vim.v.event.new_mode) then
      vim.schedule(function()
        require('agent_ls.approvals').draw()
        require('agent_ls.window').refold()
      end)
    end
  end)
end

--- Optional: changes options and joins the daemon with the files that are open already.
---@param options? agent_ls.Options
function M.setup(options)
  local trouble = require('agent_ls.config').set(options)
  if trouble then
    return require('agent_ls.notice').say(trouble)
  end
  if require('agent_ls.config').options.auto_start then
    for _, buf in ipairs(vim.api.nvim_list_bufs()) do
      if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' and vim.api.nvim_buf_get_name(buf) ~= '' then
        require('agent_ls.client').noticed(buf, 'BufReadPost')
      end
    end
  end
end

--- `agent: running · 2 to answer`, or nothing. Cheap enough for every redraw.
---@return string
function M.status()
  return package.loaded['agent_ls.client'] and require('agent_ls.status').status() or ''
end

return M
