-- Defines `:Agent`, its `<Plug>` maps and the autocommands that notice files; the rest is loaded when first needed.
if vim.g.loaded_agent_ls then
  return
end
vim.g.loaded_agent_ls = true

vim.api.nvim_create_user_command('Agent', function(opts)
  require('agent_ls.commands').run(opts)
end, {
  nargs = '*',
  range = true,
  desc = 'Talk to the agent; :help agent-ls',
  complete = function(lead, line)
    return require('agent_ls.complete').words(lead, line)
  end,
})

require('agent_ls.keys').define()

local group = vim.api.nvim_create_augroup('agent_ls', {})

vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufWritePost' }, {
  group = group,
  desc = 'agent-ls: join the daemon with the files of a workspace',
  callback = function(event)
    if vim.bo[event.buf].buftype == '' and vim.api.nvim_buf_get_name(event.buf) ~= '' then
      require('agent_ls.client').noticed(event.buf, event.event)
    end
  end,
})

vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  pattern = 'agent-ls://conversation/*',
  desc = 'agent-ls: a conversation opened by its name',
  callback = function(event)
    require('agent_ls.transcript').open_by_name(event.buf, event.match)
  end,
})
