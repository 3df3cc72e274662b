-- `:checkhealth agent_ls`

local M = {}

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
  local any = false
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
