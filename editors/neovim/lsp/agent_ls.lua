-- What `vim.lsp.enable('agent_ls')` reads.
return require('agent_ls.client').lsp_config()
