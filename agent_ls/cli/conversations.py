"""`conversations`, `attach`: what there is, and one of them followed.

Owns how a list reads. Does not own what a conversation holds.
"""

import argparse
import sys
from typing import Any

from agent_ls.cli import screen
from agent_ls.cli.client import Client, ClientError
from agent_ls.cli.follow import Follower
from agent_ls.cli.listing import put_done, put_list, which_one
from agent_ls.cli.places import command_id, short_path, uri_path
from agent_ls.cli.terminal import aside, ask_yes, put_json, style_of
from agent_ls.cli.usage import Verbs
from agent_ls.cli.which import WHICH, named, named_or_newest
from agent_ls.core.display import one_line

Json = dict[str, Any]


def register(verbs: Verbs) -> None:
    listed = verbs.add("conversations", run_conversations, "list conversations, or delete one")
    listed.add_argument("action", nargs="?", choices=["list", "delete"], default="list")
    listed.add_argument("id", nargs="?", metavar="ID")
    listed.add_argument("--json", action="store_true")
    listed.add_argument("--archived", action="store_true", help="those that were put away")
    listed.add_argument("--query", metavar="TEXT", help="those with this text in the title")
    listed.add_argument("--yes", action="store_true", help="delete without asking")
    attach = verbs.add("attach", run_attach, "follow a conversation in this terminal")
    attach.add_argument("id", nargs="?", metavar="ID", help=WHICH)
    attach.add_argument("--json", action="store_true", help="one agent/event or agent/stream object a line")


def run_conversations(options: argparse.Namespace) -> int:
    if options.action == "delete":
        return _delete(options)
    with Client.connect(start=True) as client:
        held = _all(client, options)
    none = 'No conversations yet. Start one: agent-ls ask "…"'
    return put_list(options, "conversations", held, head=["id", "status", "workspace", "title"], row=_row, none=none)


def run_attach(options: argparse.Namespace) -> int:
    client = Client.connect(start=True)
    follower = Follower(client, "", connect=lambda: Client.connect(start=True), backfill=200)
    shown = screen.on_terminal()
    try:
        follower.conversation_id = named_or_newest(client, options.id)
        snapshot = follower.attach()
        if not options.json:
            aside(_headline(snapshot["conversation"]))
            shown.snapshot(snapshot)
            for shell in snapshot.get("shells") or ():
                aside(f"In the background: {shell['id']} $ {one_line(shell['command'])}")
        for happened in follower.happenings():
            if options.json:
                if happened.message:
                    put_json(happened.message)
            else:
                _show(shown, happened.kind, happened.body)
    except KeyboardInterrupt:
        shown.end_line()
        aside("Detached; the conversation goes on.")
    finally:
        follower.client.close()
    return 0


def _show(shown: screen.Screen, kind: str, body: Json) -> None:
    match kind:
        case "event":
            shown.event(body)
        case "stream":
            shown.stream(body)
        case "snapshot":
            shown.snapshot(body)


def _all(client: Client, options: argparse.Namespace) -> list[Json]:
    params: Json = {"limit": 200, "archived": options.archived}
    if options.query:
        params["query"] = options.query
    held: list[Json] = []
    while True:
        page: Json = client.call("agent/conversation/list", params)
        held += page["conversations"]
        if not page.get("nextCursor"):
            return held
        params["cursor"] = page["nextCursor"]


def _row(held: Json) -> list[str]:
    pending = held.get("pendingRequests", 0)
    return [
        held["id"],
        f"{held['status']} ({pending})" if pending else str(held["status"]),
        one_line(short_path(uri_path(held["workspace"])), 36),
        one_line(held["title"] or held.get("lastText", "") or "(untitled)", 60),
    ]


def _headline(held: Json) -> str:
    style = style_of(sys.stderr)
    place = one_line(short_path(uri_path(held["workspace"])))
    about = f"{place} · {one_line(held['model'])} · {held['status']} · Ctrl-C detaches"
    return f"{style.bold(one_line(held['title']))}  {style.dim(about)}"


def _delete(options: argparse.Namespace) -> int:
    if not options.id:
        return which_one("conversations", "delete ID")
    with Client.connect(start=True) as client:
        known = named(client, options.id)
        if not options.yes:
            said = ask_yes(f"Delete {one_line(known)} for good?")
            if said is None:
                raise ClientError("invalid_params", "Nobody can be asked here.", "Say --yes to delete it for good.")
            if not said:
                return 1
        client.call("agent/conversation/delete", {"commandId": command_id(), "conversationId": known})
    return put_done(options, {"deleted": known}, "Deleted.")
