"""`shells`: what the agent has running in the background, and ending it.

Owns how the list reads. What a shell says is in its conversation (`attach`).
"""

import argparse
import sys
from typing import Any

from agent_ls.cli.ago import ago
from agent_ls.cli.client import Client
from agent_ls.cli.places import command_id, short_path
from agent_ls.cli.terminal import complain, put, put_json, style_of, table
from agent_ls.cli.usage import Verbs
from agent_ls.core.display import one_line

Json = dict[str, Any]


def register(verbs: Verbs) -> None:
    shells = verbs.add("shells", run_shells, "commands that run in the background, or end one")
    shells.add_argument("action", nargs="?", choices=["list", "stop"], default="list")
    shells.add_argument("id", nargs="?", metavar="ID")
    shells.add_argument("--json", action="store_true")


def run_shells(options: argparse.Namespace) -> int:
    if options.action == "stop":
        return _stop(options)
    with Client.connect(start=True) as client:
        shells: list[Json] = client.call("agent/shell/list", {})["shells"]
    if options.json:
        put_json({"shells": shells})
    elif not shells:
        put("Nothing runs in the background.")
    else:
        from agent_ls.adapters.host.system import SystemClock

        now = SystemClock().now()
        rows = [
            [
                shell["id"],
                one_line(shell["command"], 40),
                one_line(short_path(shell["cwd"]), 36),
                ago(shell["since"], now),
            ]
            for shell in shells
        ]
        put("\n".join(table(rows, style_of(sys.stdout), head=["id", "command", "in", "started"])))
    return 0


def _stop(options: argparse.Namespace) -> int:
    if not options.id:
        complain("Which one?", "agent-ls shells stop ID; `agent-ls shells` lists them.")
        return 1
    with Client.connect(start=True) as client:
        client.call("agent/shell/stop", {"commandId": command_id(), "shellId": options.id})
    if options.json:
        put_json({"stopped": options.id})
    else:
        put("Ended.")
    return 0
