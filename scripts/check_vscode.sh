#!/bin/sh
# Checks the VS Code extension without VS Code: types, lint, and with `test` its unit tests. Needs npm.
set -eu
cd "$(dirname "$0")/.."
if ! command -v npm >/dev/null 2>&1; then
    echo "check-vscode: skipped, because there is no npm" >&2
    exit 0
fi
cache=$(sh scripts/vscode_testbed.sh node) || { echo "check-vscode: skipped, because Node 24 cannot be installed here" >&2; exit 0; }
sh scripts/vsix.sh modules
for node in "$cache"/node_modules/node-*/bin; do PATH=$node:$PATH; done
export PATH
cd editors/vscode
if [ "${1:-}" = test ]; then
    node esbuild.mjs --tests
    exec node --test build/tests/*.test.cjs
fi
node node_modules/typescript/bin/tsc --noEmit
exec node node_modules/eslint/bin/eslint.js .
