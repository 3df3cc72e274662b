#!/bin/sh
# Installs agent-ls for the person who runs it: with uv or pipx where there is one, else into a venv of its own.
# EXTRAS=mcp,postgres adds what only some need.
set -eu

python=$1
here=$(cd "$(dirname "$0")/.." && pwd)
what=$here${EXTRAS:+[$EXTRAS]}
share=${XDG_DATA_HOME:-$HOME/.local/share}/agent-ls
bin=$HOME/.local/bin

if [ -z "$python" ]; then
    echo "agent-ls needs Python 3.11 or newer and found none. Install it, or name one: make install PYTHON=/path/to/python3" >&2
    exit 1
fi

if command -v uv >/dev/null 2>&1; then
    uv tool install --force --python "$python" --constraints "$here/constraints.txt" "$what"
    bin=$(uv tool dir --bin)
    echo "installed with uv; to remove it: uv tool uninstall agent-ls"
elif command -v pipx >/dev/null 2>&1; then
    PIP_CONSTRAINT="$here/constraints.txt" pipx install --force --python "$python" "$what"
    bin=$(pipx environment --value PIPX_BIN_DIR 2>/dev/null || echo "$bin")
    echo "installed with pipx; to remove it: pipx uninstall agent-ls"
else
    if [ -e "$bin/agent-ls" ] && [ ! -L "$bin/agent-ls" ]; then
        echo "$bin/agent-ls is there and not ours. Move it away, then run make install again." >&2
        exit 1
    fi
    if [ ! -x "$share/venv/bin/pip" ]; then
        "$python" -m venv "$share/venv" || {
            echo "$python cannot make a venv. On Debian and Ubuntu: apt install python3-venv, then run make install again." >&2
            exit 1
        }
    fi
    "$share/venv/bin/pip" install --quiet --disable-pip-version-check --upgrade --force-reinstall \
        -c "$here/constraints.txt" "$what"
    # Python 3.11 puts setuptools into each venv, and with it an import hook into each start of the interpreter.
    "$share/venv/bin/pip" uninstall --quiet --yes setuptools 2>/dev/null || true
    mkdir -p "$bin"
    ln -sf "$share/venv/bin/agent-ls" "$bin/agent-ls"
    echo "installed into $share/venv, linked as $bin/agent-ls; to remove it, delete both"
fi

"$bin/agent-ls" --version
case ":$PATH:" in
*":$bin:"*) ;;
*) echo "$bin is not on your PATH yet: add it, so that editors find agent-ls" ;;
esac
