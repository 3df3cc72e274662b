#!/bin/sh
# Checks the Lua of the editor plugins: usage check_editors.sh NVIM [--write]
# What is checked with Neovim itself is always checked; the formatter needs node and npm.
set -eu
nvim=$1
mode=${2:---check}

"$nvim" --clean --headless -l scripts/lua_lint.lua editors/neovim
case $mode in --write) help= ;; *) help=--check ;; esac
"$nvim" --clean --headless -l scripts/neovim_help.lua $help

if ! command -v npm >/dev/null 2>&1; then
  echo "check-editors: stylua skipped, because there is no npm" >&2
  exit 0
fi
tools=.venv/editor-tools
if [ ! -d "$tools/node_modules/@johnnymorganz/stylua" ]; then
  npm install --silent --no-audit --no-fund --prefix "$tools" @johnnymorganz/stylua@2.5.2 || {
    echo "check-editors: stylua skipped, because it cannot be installed here" >&2
    exit 0
  }
fi
node scripts/stylua.cjs "$tools" editors/neovim "$mode"
