"""`daemon`, `start`, `stop`, `restart`, `status`, `log`: the daemon itself, from a terminal.

Owns what a person sees of it and the waiting for its end. Does not own how it runs (agent_ls.daemon).
"""

import argparse
import os
import select
import signal
import sys
from collections.abc import Iterator
from typing import Any, Final

from agent_ls import paths
from agent_ls.bridge.start import alive
from agent_ls.cli.client import Client, ClientError
from agent_ls.cli.processes import ended
from agent_ls.cli.terminal import complain, put, put_json, style_of
from agent_ls.cli.usage import Verbs
from agent_ls.core.display import named, one_line

Json = dict[str, Any]
NO_DAEMON: Final = 3
_STOP_S: Final = 15.0
_LOG_LINES: Final = 50


def register(verbs: Verbs) -> None:
    run = verbs.add("daemon", run_daemon, "be the daemon; editors and the other verbs start it themselves")
    run.add_argument("--foreground", action="store_true", help="log to this terminal; Ctrl-C ends it")
    verbs.add("start", run_start, "start the daemon if there is none")
    for name, verb, summary in (
        ("stop", run_stop, "end the daemon; nothing that was acknowledged is lost"),
        ("restart", run_restart, "end it and start a new one, which takes up where it was"),
    ):
        ended = verbs.add(name, verb, summary)
        ended.add_argument("--force", action="store_true", help="kill it if it does not answer")
    status = verbs.add("status", run_status, "what the daemon is doing; exit 3 if there is none")
    status.add_argument("--json", action="store_true")
    log = verbs.add("log", run_log, "the end of the daemon's log")
    log.add_argument("-n", "--lines", type=int, default=_LOG_LINES, metavar="N")
    log.add_argument("-f", "--follow", action="store_true", help="go on as it grows")


def run_daemon(options: argparse.Namespace) -> int:
    from agent_ls.daemon.lifecycle import run

    return run(foreground=options.foreground)


def run_start(_options: argparse.Namespace) -> int:
    running = _status()
    if running:
        put(f"The daemon is running already (pid {running['pid']}).")
        return 0
    with Client.connect(start=True) as client:
        put(f"Started the daemon (pid {client.call('agent/status')['pid']}).")
    return 0


def run_stop(options: argparse.Namespace) -> int:
    pid = _stop(force=options.force)
    put("No daemon is running." if pid is None else f"Stopped the daemon (pid {pid}).")
    return 0


def run_restart(options: argparse.Namespace) -> int:
    _stop(force=options.force)
    return run_start(options)


def run_status(options: argparse.Namespace) -> int:
    status = _status()
    if status is None:
        if options.json:
            put_json({"running": False})
        else:
            complain("No daemon is running.", "`agent-ls start` starts one; so does every editor that connects.")
        return NO_DAEMON
    if options.json:
        put_json(status)
    else:
        put("\n".join(_described(status)))
    return 0


def run_log(options: argparse.Namespace) -> int:
    path = paths.log_path()
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file.readlines()[-max(1, options.lines) :]:
                put(named(line.rstrip("\n")))
            if options.follow:
                _follow(file)
    except FileNotFoundError:
        complain(f"There is no log yet: {path}", "It begins with the first start of the daemon.")
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


def _status() -> Json | None:
    try:
        with Client.connect(start=False) as client:
            status: Json = client.call("agent/status")
            return status
    except ClientError as error:
        if error.code == "no_daemon" and paths.read_holder() is None:
            return None
        if error.code in {"no_daemon", "connection_lost"} and not _holder_pid():
            return None
        raise


def _stop(*, force: bool) -> int | None:
    """The pid that has ended, None if there was no daemon."""
    pid = _holder_pid()
    try:
        with Client.connect(start=False, timeout=5) as client:
            pid = int(client.call("agent/status", timeout=5)["pid"])
            client.call("agent/drain", {"mode": "shutdown", "deadlineMs": 10_000}, timeout=15)
    except ClientError as error:
        if pid is None:
            if error.code == "no_daemon":
                return None
            raise
        if error.code != "connection_lost" and not force:
            raise
    if not ended(pid, _STOP_S if not force else 3.0):
        if not force:
            raise ClientError("timeout", f"The daemon (pid {pid}) has not ended.", "`agent-ls stop --force` kills it.")
        os.kill(pid, signal.SIGKILL)
        ended(pid, 5.0)
    return pid


def _holder_pid() -> int | None:
    holder = paths.read_holder()
    return holder.pid if holder and alive(holder.pid) else None


def _described(status: Json) -> list[str]:
    style = style_of(sys.stdout)
    rows = [("daemon", f"pid {status['pid']}, version {status['version']}, up {_duration(status['uptimeS'])}")]
    rows.append(("connections", f"{(status.get('connections') or {}).get('count', 1)} with this one"))
    for name in ("runs", "requests", "effects", "drain"):
        if status.get(name) is not None:
            rows.append((name, one_line(_told(status[name]))))
    rows += [("ledger", _ledger(status.get("ledger") or {})), ("state", paths.state_dir())]
    return [f"{style.dim(f'{name:<12}')} {value}" for name, value in rows]


def _ledger(held: Json) -> str:
    size = int(held.get("sizeBytes", 0))
    told = f"{held.get('engine', '?')}, {held.get('events', 0)} events, {size / 1_048_576:.1f} MiB"
    trouble = held.get("error") or ("" if held.get("writable", True) else "it cannot be written")
    return f"{told}; {one_line(str(trouble))}" if trouble else told


def _told(value: Any) -> str:
    """Counts; the names behind them are in `--json`."""
    match value:
        case dict():
            return ", ".join(f"{_told(held)} {name}" for name, held in value.items() if name != "count")
        case list():
            return str(len(value))
        case _:
            return str(value)


def _duration(seconds: float) -> str:
    minutes, hours = int(seconds // 60), int(seconds // 3600)
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{seconds:.0f} s"


def _follow(file: Any) -> None:
    while True:
        for line in _grown(file):
            put(named(line))
        select.select([], [], [], 0.25)


def _grown(file: Any) -> Iterator[str]:
    while line := file.readline():
        yield line.rstrip("\n")
