"""`shells`: what the agent has running in the background, and ending it.

Owns how the list reads. What a shell says is in its conversation (`attach`).
"""

import argparse
from typing import Any

from agent_ls.cli.ago import ago
from agent_ls.cli.client import Client
from agent_ls.cli.listing import put_done, put_list, which_one
from agent_ls.cli.places import command_id, short_path
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
    head = ["id", "command", "in", "started"]
    return put_list(options, "shells", shells, head=head, row=_row, none="Nothing runs in the background.")


def _stop(options: argparse.Namespace) -> int:
    if not options.id:
        return which_one("shells", "stop ID")
    with Client.connect(start=True) as client:
        client.call("agent/shell/stop", {"commandId": command_id(), "shellId": options.id})
    return put_done(options, {"stopped": options.id}, "Ended.")


def _row(shell: Json) -> list[str]:
    from agent_ls.adapters.host.system import SystemClock

    place = one_line(short_path(shell["cwd"]), 36)
    return [shell["id"], one_line(shell["command"], 40), place, ago(shell["since"], SystemClock().now())]
