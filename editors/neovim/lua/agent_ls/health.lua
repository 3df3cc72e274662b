-- `:checkhealth agent_ls`

local M = {}

local DOCTOR_MS, JOIN_MS = 20000, 5000

--- What `agent-ls doctor` says: whether a message would be answered, and by which model.
local function model(health, cmd)
  local command = vim.list_extend(vim.list_slice(cmd, 1, #cmd - 1), { 'doctor', '--json' })
  local done = vim.system(command, { text = true, timeout = DOCTOR_MS }):wait()
  local read, report = pcall(vim.json.decode, done.stdout or '', { luanil = { object = true } })
  if not read or type(report) ~= 'table' then
    return health.warn('`agent-ls doctor` gave no answer', 'Run it in a terminal.')
  end
  if report.model then
    health.ok(('a model is ready: %s'):format(report.model))
  else
    health.error('no model is ready', report.nextStep or 'Run `agent-ls doctor` in a terminal.')
  end
  for _, line in ipairs(report.lines or {}) do
    local known = line.part == 'providers' or line.part == 'new conversations'
    if not known and (line.level == 'warning' or line.level == 'problem') then
      health.warn(('%s: %s'):format(line.name, line.text))
    end
  end
end

function M.check()
  local health = vim.health
  health.start('agent-ls')
  if vim.fn.has('nvim-0.11') == 1 then
    health.ok('Neovim 0.11 or newer')
  else
    health.error('Neovim is too old', 'Use Neovim 0.11 or newer.')
  end
  local cmd, trouble = require('agent_ls.config').command()
  if not cmd then
    return health.error('no agent-ls', trouble)
  end
  local done = vim.system({ cmd[1], '--version' }, { text = true, timeout = 5000 }):wait()
  health.ok(('%s: %s'):format(cmd[1], vim.trim(done.stdout or '')))
  model(health, cmd)
  local any = false
  -- The first file was opened a moment ago: its daemon is only just starting.
  vim.wait(JOIN_MS, function()
    local greeted = vim.tbl_filter(function(link)
      return link.hello ~= nil
    end, vim.tbl_values(require('agent_ls.state').links))
    return #greeted >= #vim.lsp.get_clients({ name = 'agent_ls', _uninitialized = true })
  end, 20)
  for _, link in pairs(require('agent_ls.state').links) do
    any = true
    local hello = link.hello
    if hello then
      health.ok(('%s: agent-ls %s, daemon pid %d'):format(link.root, hello.daemonVersion, hello.pid))
    else
      health.warn(('%s: the daemon has not answered yet'):format(link.root))
    end
  end
  if not any then
    health.info('No workspace is joined yet; open a file of one, or use :Agent.')
  end
end

return M
