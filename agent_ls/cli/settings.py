"""`locks`, `doctor`, `models`: what holds, what was found; with `rules` beside them.

Owns how these lists read. Does not own rules (cli.rules) nor findings (config.doctor).
"""

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from agent_ls.cli import rules
from agent_ls.cli.client import Client, ClientError
from agent_ls.cli.daemon import duration
from agent_ls.cli.listing import put_done, put_list, which_one
from agent_ls.cli.places import command_id, path_uri, short_path, uri_path
from agent_ls.cli.replace import holder_pid
from agent_ls.cli.terminal import columns_of, put, put_json, wrapped
from agent_ls.cli.usage import Verbs
from agent_ls.core.display import one_line

if TYPE_CHECKING:
    from agent_ls.config.running import Running

Json = dict[str, Any]


def register(verbs: Verbs) -> None:
    locks = verbs.add("locks", run_locks, "files and folders that a run holds just now, or take one over")
    locks.add_argument("action", nargs="?", choices=["list", "release"], default="list")
    locks.add_argument("path", nargs="?", metavar="PATH", help="the file or folder as the list names it")
    locks.add_argument("--json", action="store_true")
    rules.register(verbs)
    models = verbs.add("models", run_models, "models that can be chosen")
    models.add_argument("--json", action="store_true")
    doctor = verbs.add("doctor", run_doctor, "what was found on this machine and what is missing")
    doctor.add_argument("--json", action="store_true")


def run_locks(options: argparse.Namespace) -> int:
    if options.action == "release":
        return _release(options)
    with Client.connect(start=True) as client:
        locks: list[Json] = client.call("agent/lock/list", {})["locks"]
    head = ["held", "by run", "since", "waiting"]
    return put_list(options, "locks", locks, head=head, row=_lock, none="Nothing is held.")


def _release(options: argparse.Namespace) -> int:
    if not options.path:
        return which_one("locks", "release PATH")
    named = options.path if "://" in options.path else path_uri(os.path.realpath(os.path.expanduser(options.path)))
    with Client.connect(start=True) as client:
        client.call("agent/lock/release", {"commandId": command_id(), "key": named})
    said = "Taken over. What runs on under it is told; who waited for it goes on."
    return put_done(options, {"released": named}, said)


def run_models(options: argparse.Namespace) -> int:
    with Client.connect(start=True) as client:
        models: list[Json] = client.call("agent/model/list", {}, timeout=60)["models"]
    none = "No model was found. `agent-ls doctor` says what is missing."
    return put_list(options, "models", models, head=["model", "provider", "available"], row=_model, none=none)


def run_doctor(options: argparse.Namespace) -> int:
    from agent_ls.daemon.doctor import examine

    report = examine(running=_running())
    if options.json:
        put_json(report.as_data())
    else:
        columns = columns_of(sys.stdout)
        for line in report.text().split("\n"):
            put("\n".join(wrapped(line, columns, "      ")))
    return 0 if report.healthy else 1


def _running() -> "Running | str | None":
    """What the daemon says of itself, or why it says nothing; None where there is none. Starts none."""
    from agent_ls.config.running import Running

    try:
        with Client.connect(start=False) as client:
            status: Json = client.call("agent/status")
            providers: list[Json] = client.call("agent/provider/list", {})["providers"]
    except ClientError as error:
        there = error.code != "no_daemon" or holder_pid() is not None
        return f"{error.message} {error.hint}".strip() if there else None
    held: Json = status.get("config") or {}
    return Running(
        pid=status["pid"],
        version=status["version"],
        since=f"{duration(status['uptimeS'])} ago",
        model=held.get("model"),
        providers=tuple(_provider(each) for each in providers),
        print=str(held.get("print") or ""),
    )


def _provider(held: Json) -> str:
    told = held["id"] + (f" (model {held['model']})" if held.get("model") and held["id"] != "demo" else "")
    return one_line(told if held.get("available") else f"{told}: not ready", 120)


def _lock(lock: Json) -> list[str]:
    return [one_line(short_path(uri_path(lock["key"])), 60), lock["runId"], lock["since"], str(lock["waiting"])]


def _model(model: Json) -> list[str]:
    there = "yes" if model.get("available", True) else one_line(f"no: {model.get('reason', '')}", 120)
    return [model["id"], model["provider"], there]
