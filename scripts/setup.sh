#!/bin/sh
# Makes the development venv: scripts/setup.sh PYTHON VENV. Safe to run again: it only adds what is missing.
set -eu

python=$1
venv=$2

if [ -z "$python" ]; then
    echo "agent-ls needs Python 3.11 or newer and found none. Install it, or name one: make PYTHON=/path/to/python3" >&2
    exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "agent-ls needs Python 3.11 or newer; $python is $("$python" --version 2>&1). Name another: make PYTHON=/path/to/python3" >&2
    exit 1
fi
if [ ! -x "$venv/bin/pip" ]; then
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        echo "$python cannot make a venv. On Debian and Ubuntu: apt install python3-venv, then run make again." >&2
        exit 1
    fi
    echo "making $venv with $("$python" --version)"
    "$python" -m venv "$venv"
fi
echo "installing agent-ls and what it takes to work on it into $venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
# Python 3.11 puts setuptools into each venv, and with it an import hook into each start of the interpreter.
"$venv/bin/pip" uninstall --quiet --yes setuptools 2>/dev/null || true
# Compiling is half of what a start of the daemon costs, and where PYTHONDONTWRITEBYTECODE is set it is paid at each start.
"$venv/bin/python" -m compileall -q agent_ls
"$venv/bin/nvim" --version | head -n 1
