"""`rules`: what may run without asking and why, and the rules that a person keeps or takes back.

Owns how rules are written on a command line and how they read. Does not own what they mean (core.policy).
"""

import argparse
import json
import sys
from typing import Any, Final

from agent_ls.cli.client import Client
from agent_ls.cli.listing import put_done, put_list
from agent_ls.cli.places import command_id, short_path
from agent_ls.cli.terminal import complain, put, put_json, style_of
from agent_ls.cli.usage import Verbs
from agent_ls.cli.which import named, this_folder
from agent_ls.core.display import one_line

Json = dict[str, Any]

EFFECTS: Final = ("allow", "ask", "deny")
_MOSTLY: Final = {"shell": "command", "fetch": "url", "grep": "pattern", "glob": "pattern"}
_WHERE: Final = {"conversation": "for this conversation", "local": "in this workspace, for you", "user": "for you"}


def register(verbs: Verbs) -> None:
    rules = verbs.add("rules", run_rules, "what may run without asking, and why")
    rules.add_argument("action", nargs="?", choices=["list", "add", "remove", "explain"], default="list")
    rules.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="add: [allow|ask|deny] 'tool(pattern)'; remove: the id or the rule; "
        "explain: shell 'git status', read PATH, fetch URL, or JSON",
    )
    rules.add_argument("--scope", choices=["workspace", "user", "conversation"], help="add: where it holds (workspace)")
    rules.add_argument("--conversation", metavar="ID", help="as seen from this conversation; add: for it")
    rules.add_argument("--json", action="store_true")


def run_rules(options: argparse.Namespace) -> int:
    match options.action:
        case "explain":
            return _explain(options)
        case "add":
            return _add(options)
        case "remove":
            return _remove(options)
        case _:
            return _list(options)


def _list(options: argparse.Namespace) -> int:
    with Client.connect(start=True) as client:
        rules = _rules(client, options)
    none = "No rules of your own. Reads in the workspace run freely, the rest asks."
    return put_list(options, "rules", rules, head=["effect", "rule", "holds", "id or file"], row=_row, none=none)


def _row(rule: Json) -> list[str]:
    """What can be taken back by its id needs no file; what stands in a file has no id."""
    kept = str(rule.get("id") or short_path(str(rule.get("origin", ""))))
    return [one_line(cell, 400) for cell in (str(rule["effect"]), str(rule["rule"]), _where(rule), kept)]


def _add(options: argparse.Namespace) -> int:
    words: list[str] = list(options.words)
    effect = words.pop(0) if words and words[0] in EFFECTS else "allow"
    if len(words) != 1:
        complain("Which rule?", "For example: agent-ls rules add allow 'shell(git log *)'")
        return 1
    scope = options.scope or ("conversation" if options.conversation else "workspace")
    if scope == "conversation" and not options.conversation:
        complain("Which conversation?", "Name it: --conversation ID")
        return 1
    asked = {"commandId": command_id(), "effect": effect, "rule": words[0], "scope": scope}
    with Client.connect(start=True) as client:
        kept: Json = client.call("agent/permission/add", {**asked, **_seen_from(client, options)})
    told = {name: value for name, value in kept.items() if name != "seq"}
    return put_done(options, told, f"Kept {_where(kept)}: {_written(kept)}")


def _remove(options: argparse.Namespace) -> int:
    if len(options.words) != 1:
        complain("Which rule?", "Name it by its id or as it is written; `agent-ls rules list` shows both.")
        return 1
    with Client.connect(start=True) as client:
        found = [rule for rule in _rules(client, options) if options.words[0] in {rule.get("id"), rule["rule"]}]
        kept = [rule for rule in found if rule.get("id")]
        if not kept and found:
            origin = one_line(str(found[0]["origin"]), 400)
            complain("This rule is part of a file.", f"Take it out of {origin}; that holds at once.")
            return 1
        if len(kept) > 1:
            complain("There is more than one such rule.", f"Name one: {', '.join(str(rule['id']) for rule in kept)}")
            return 1
        known = str(kept[0]["id"]) if kept else options.words[0]
        client.call("agent/permission/remove", {"commandId": command_id(), "ruleId": known})
    return put_done(options, {"id": known}, f"Removed: {_written(kept[0])}" if kept else f"Removed {known}.")


def _rules(client: Client, options: argparse.Namespace) -> list[Json]:
    rules: list[Json] = client.call("agent/permission/list", _seen_from(client, options))["rules"]
    return rules


def _written(rule: Json) -> str:
    return f"{rule['effect']} {one_line(str(rule['rule']), 10_100)}"


def _where(rule: Json) -> str:
    return _WHERE.get(str(rule.get("scope")), str(rule.get("scope")))


def _explain(options: argparse.Namespace) -> int:
    if not options.words:
        complain("Which call?", "For example: agent-ls rules explain shell 'git status'")
        return 1
    tool, *words = options.words
    given = _input(tool, words)
    with Client.connect(start=True) as client:
        asked = {"tool": tool, "input": given, **_seen_from(client, options)}
        said: Json = client.call("agent/permission/explain", asked)
    if options.json:
        put_json(said)
        return 0
    style = style_of(sys.stdout)
    colour = {"allow": "green", "ask": "yellow", "deny": "red"}.get(str(said["effect"]), "bold")
    put(f"{style.paint(str(said['effect']), 'bold', colour)}  {one_line(str(said.get('reason', '')), 500)}")
    if rule := said.get("decidedBy"):
        put(style.dim(f"by {one_line(str(rule), 1000)}"))
    return 0


def _input(tool: str, words: list[str]) -> Json:
    """JSON as it is; else the one thing that this tool is mostly about."""
    text = " ".join(words)
    if text.startswith("{"):
        try:
            given = json.loads(text)
        except ValueError:
            given = None
        if isinstance(given, dict):
            return given
    return {_MOSTLY.get(tool, "path"): text, **({"content": ""} if tool == "write" else {})}


def _seen_from(client: Client, options: argparse.Namespace) -> Json:
    if options.conversation:
        return {"conversationId": named(client, options.conversation)}
    return {"workspace": this_folder()}
