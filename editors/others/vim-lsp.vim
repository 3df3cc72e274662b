" Vim with the plugin vim-lsp: append to vimrc. Guide: docs/other-editors.md
if executable('agent-ls')
  augroup agent_ls
    autocmd!
    autocmd User lsp_setup call lsp#register_server({
          \ 'name': 'agent-ls',
          \ 'cmd': {server_info -> ['agent-ls', 'connect']},
          \ 'allowlist': ['*'],
          \ })
  augroup END
endif
