# Kakoune with kakoune-lsp 18 or newer: append to kakrc, after `eval %sh{kak-lsp}`. Guide: docs/other-editors.md

hook -group agent-ls global BufSetOption filetype=.+ %{
    set-option -add buffer lsp_servers %{
        [agent-ls]
        command = "agent-ls"
        args = ["connect"]
        root_globs = [".git", ".hg"]
    }
}
