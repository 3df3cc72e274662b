"""`usage`: what a conversation has used, run by run, with what its subagents used.

Owns how it reads. What is counted, and what it costs, is the daemon's to say.
"""

import argparse
import sys
from typing import Any

from agent_ls.cli.client import Client
from agent_ls.cli.listing import put_done
from agent_ls.cli.terminal import Style, style_of, table
from agent_ls.cli.usage import Verbs
from agent_ls.cli.which import WHICH, named_or_newest

Json = dict[str, Any]


def register(verbs: Verbs) -> None:
    usage = verbs.add("usage", run_usage, "tokens and cost of a conversation, run by run")
    usage.add_argument("id", nargs="?", metavar="ID", help=WHICH)
    usage.add_argument("--json", action="store_true")


def run_usage(options: argparse.Namespace) -> int:
    with Client.connect(start=True) as client:
        known = named_or_newest(client, options.id)
        used: Json = client.call("agent/context/status", {"conversationId": known})
    return put_done(options, {"conversationId": known, **used}, "\n".join(lines(used, style_of(sys.stdout))))


def lines(used: Json, style: Style) -> list[str]:
    """A row for each run, the newest step, and all of it."""
    rows = [_row(f"run {run['ordinal']}", run) for run in used.get("runs") or []]
    if last := used.get("lastStep"):
        rows.append(_row("newest step", last))
    if beneath := used.get("subagents"):
        rows.append(_row("of it subagents", beneath))
    rows.append(_row("conversation", used))
    window = used.get("windowTokens")
    full = f" of {window:,}" if window else ""
    head = ["", "in", "out", "from cache", "cost"]
    return [*table(rows, style, head=head), f"The model was last sent {used['usedTokens']:,} tokens{full}."]


def _row(name: str, used: Json) -> list[str]:
    cost = used.get("costUsd")
    counts = (f"{used[key]:,}" for key in ("inputTokens", "outputTokens", "cacheReadTokens"))
    return [name, *counts, "" if cost is None else f"${cost:.4f}"]
