#!/bin/sh
# Builds the VS Code extension: editors/vscode/agent-ls-VERSION.vsix. Needs npm; Node comes from the testbed's cache.
set -eu
cd "$(dirname "$0")/.."
cache=$(sh scripts/vscode_testbed.sh node)
for node in "$cache"/node_modules/node-*/bin; do PATH=$node:$PATH; done
export PATH
cd editors/vscode
# The lock says exactly what; where it has not changed since, nothing is installed again.
if [ ! -f node_modules/.installed ] || ! cmp -s package-lock.json node_modules/.installed; then
    npm ci --ignore-scripts --no-audit --no-fund --silent
    cp package-lock.json node_modules/.installed
fi
[ "${1:-}" = modules ] && exit 0
cp ../../LICENSE LICENSE
rm -f ./*.vsix
node esbuild.mjs --production
node node_modules/@vscode/vsce/vsce package --no-dependencies --allow-missing-repository --out "agent-ls-$(node -p 'require("./package.json").version').vsix" >/dev/null
ls "$PWD"/*.vsix
