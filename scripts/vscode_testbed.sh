#!/bin/sh
# A real VS Code to test in: Node 24, code-server and a Chromium, kept in a cache outside the checkout.
# Usage: vscode_testbed.sh [node]   prints the cache's folder; `node` alone is what building the extension takes.
# Safe to run again and by several at once: what is there is not installed twice. Exits 3 with the reason where it cannot.
set -eu

want=${1:-all}
code_server=4.139.1
cache=${AGENT_LS_TESTBED:-${XDG_CACHE_HOME:-$HOME/.cache}/agent-ls/vscode}
mkdir -p "$cache"

give_up() {
    echo "vscode: $1" >&2
    exit 3
}

# One at a time; the lock goes with this process.
if command -v flock >/dev/null 2>&1; then
    exec 9>"$cache/lock"
    flock 9
fi

case $(uname -sm) in
"Linux x86_64") platform=linux-x64 ;;
"Linux aarch64") platform=linux-arm64 ;;
"Darwin arm64") platform=darwin-arm64 ;;
"Darwin x86_64") platform=darwin-x64 ;;
*) give_up "there is no Node for $(uname -sm) to test with" ;;
esac
command -v npm >/dev/null 2>&1 || give_up "npm is missing; install Node with npm"

log=$cache/install.log
quietly() {
    "$@" >"$log" 2>&1 || { tail -n 5 "$log" >&2; give_up "could not be installed: $*"; }
}

package=$cache/node_modules/node-$platform
if [ ! -x "$package/bin/node" ]; then
    [ -f "$cache/package.json" ] || echo '{ "private": true }' >"$cache/package.json"
    quietly npm install --prefix "$cache" --no-audit --no-fund --ignore-scripts "node-$platform@24"
fi
PATH=$package/bin:$PATH
export PATH npm_config_nodedir="$package"
[ "$want" = node ] && { echo "$cache"; exit 0; }

server=$cache/server
vscode=$server/node_modules/code-server/lib/vscode
if [ "$(cat "$server/ready" 2>/dev/null)" != "$code_server" ]; then
    rm -rf "$server"
    mkdir -p "$server"
    echo '{ "private": true }' >"$server/package.json"
    cd "$server"
    quietly npm install "code-server@$code_server" --ignore-scripts --no-audit --no-fund
    cd "$vscode"
    quietly npm install --omit=dev --ignore-scripts --no-audit --no-fund
    # Output channels write through it; everything else that is native is not needed here.
    quietly npm rebuild @vscode/spdlog
    cd extensions
    quietly npm install --omit=dev --ignore-scripts --no-audit --no-fund
    echo "$code_server" >"$server/ready"
fi

find_chromium() {
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" && return 0
    done
    return 1
}
if ! find_chromium >/dev/null; then
    command -v apt-get >/dev/null 2>&1 || give_up "Chromium is missing; install it"
    if [ "$(id -u)" = 0 ]; then as_root=""; elif command -v sudo >/dev/null 2>&1; then as_root="sudo -n"; else
        give_up "Chromium is missing; as root: apt-get install chromium"
    fi
    quietly $as_root apt-get update -qq
    quietly $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core
fi
echo "$cache"
