"""Until the daemon serves, it loads nothing that its first request does not need: whoever takes over waits."""

import subprocess
import sys

LATER = {
    "agent_ls.adapters.ledger.postgres.ledger",
    "agent_ls.adapters.models.channel",
    "agent_ls.adapters.tools.search_worker",
    "agent_ls.cli.main",
    "agent_ls.testing",
    "argparse",
    "asyncpg",
    "genai_prices",
    "httpcore",
    "httpx",
    "lsprotocol",
    "mcp",
    "pathspec",
    "pygls",
    "tree_sitter",
}
START = """
import sys
import agent_ls.daemon.lifecycle as lifecycle
lifecycle.run = lambda *, foreground: 0
sys.argv = ["agent-ls", "daemon"]
from agent_ls.__main__ import main
assert main() == 0
print(*sys.modules)
"""


def test_what_others_need_later_is_not_there_yet() -> None:
    done = subprocess.run([sys.executable, "-I", "-c", START], check=True, capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "agent_ls.daemon.compose" in loaded
    assert loaded & LATER == set()
