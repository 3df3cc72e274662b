"""`daemon`, `start`, `stop`, `restart`, `status`, `log`: the daemon itself, from a terminal.

Owns what a person sees of it and the waiting for its end. Does not own how it runs (agent_ls.daemon).
"""

import argparse
import select
import sys
from collections.abc import Iterator
from typing import Any, Final

from agent_ls import paths
from agent_ls.cli import replace
from agent_ls.cli.client import Client, ClientError
from agent_ls.cli.listing import put_done
from agent_ls.cli.places import short_path
from agent_ls.cli.terminal import complain, put, put_json, style_of
from agent_ls.cli.usage import Verbs
from agent_ls.core.display import named, one_line

Json = dict[str, Any]
NO_DAEMON: Final = 3
LONGEST_S: Final = 600.0
_LOG_LINES: Final = 50


def register(verbs: Verbs) -> None:
    run = verbs.add("daemon", run_daemon, "be the daemon; editors and the other verbs start it themselves")
    run.add_argument("--foreground", action="store_true", help="log to this terminal; Ctrl-C ends it")
    run.add_argument("--successor", action="store_true", help="take the place of the daemon that is there")
    run.add_argument("--upgrade", action="store_true", help="with --successor: only if that one is older")
    run.add_argument("--deadline-ms", type=int, default=int(replace.HANDOFF_S * 1000), help=argparse.SUPPRESS)
    verbs.add("start", run_start, "start the daemon if there is none")
    for name, verb, summary, deadline_s in (
        ("stop", run_stop, "end the daemon; nothing that was acknowledged is lost", replace.STOP_S),
        ("restart", run_restart, "put a new one in its place, which takes up where it was", replace.HANDOFF_S),
    ):
        ended = verbs.add(name, verb, summary)
        ended.add_argument("--force", action="store_true", help="kill it if it does not answer")
        ended.add_argument(
            "--deadline",
            type=_seconds,
            default=deadline_s,
            metavar="SECONDS",
            help=f"how long what runs may take to come to its next step ({deadline_s:g})",
        )
    status = verbs.add("status", run_status, "what the daemon is doing; exit 3 if there is none")
    status.add_argument("--json", action="store_true")
    log = verbs.add("log", run_log, "the end of the daemon's log")
    log.add_argument("-n", "--lines", type=int, default=_LOG_LINES, metavar="N")
    log.add_argument("-f", "--follow", action="store_true", help="go on as it grows")


def run_daemon(options: argparse.Namespace) -> int:
    from agent_ls.daemon.handoff import Succession
    from agent_ls.daemon.lifecycle import run

    succession = Succession(options.deadline_ms, options.upgrade) if options.successor else None
    return run(foreground=options.foreground, succession=succession)


def run_start(_options: argparse.Namespace) -> int:
    running = _status()
    if running:
        put(f"The daemon is running already (pid {running['pid']}).")
        return 0
    with Client.connect(start=True) as client:
        put(f"Started the daemon (pid {client.call('agent/status')['pid']}).")
    return 0


def run_stop(options: argparse.Namespace) -> int:
    pid = replace.stop(force=options.force, deadline_s=options.deadline)
    put("No daemon is running." if pid is None else f"Stopped the daemon (pid {pid}).")
    return 0


def run_restart(options: argparse.Namespace) -> int:
    old = replace.holder_pid()
    if old is None or options.force:
        replace.stop(force=options.force, deadline_s=0)
        return run_start(options)
    new = replace.hand_over(old, deadline_s=options.deadline)
    put(f"The daemon was replaced (pid {old}, now {new}).")
    return 0


def run_status(options: argparse.Namespace) -> int:
    status = _status()
    if status is None:
        if options.json:
            put_json({"running": False})
        else:
            complain("No daemon is running.", "`agent-ls start` starts one; so does every editor that connects.")
        return NO_DAEMON
    return put_done(options, status, "\n".join(_described(status)))


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
        if error.code in {"no_daemon", "connection_lost"} and not replace.holder_pid():
            return None
        raise


def _described(status: Json) -> list[str]:
    style = style_of(sys.stdout)
    rows = [("daemon", f"pid {status['pid']}, version {status['version']}, up {duration(status['uptimeS'])}")]
    rows.append(("connections", f"{(status.get('connections') or {}).get('count', 1)} with this one"))
    for name in ("runs", "requests", "shells", "effects"):
        if status.get(name) is not None:
            rows.append((name, one_line(_told(status[name]))))
    rows += [("mcp", _tool_server(each)) for each in status.get("mcp") or []]
    rows += _troubles(status)
    rows += [("ledger", _ledger(status.get("ledger") or {})), ("state", paths.state_dir())]
    return [f"{style.dim(f'{name:<12}')} {value}" for name, value in rows]


def _troubles(status: Json) -> Iterator[tuple[str, str]]:
    """What a person should know and is usually not there."""
    if drain := status.get("drain"):
        left = drain["deadlineMs"] / 1000
        yield "ending", f"{drain['mode']}, waits for {_runs(len(drain['waitsFor']))}, {left:.0f} s at most"
    for effect in (status.get("effects") or {}).get("owed", []):
        if effect.get("attempts", 1) > 1:
            yield "taken up", one_line(f"{effect['id']}, {effect['attempts']} times: {effect.get('lastError')}")
    if error := (status.get("config") or {}).get("error"):
        yield "config", one_line(f"as of before the last change: {error}")
    if (status.get("janitor") or {}).get("violations"):
        held = status["janitor"]
        yield (
            "janitor",
            f"{held['violations']} invariants did not hold, {held['repaired']} repaired; see `agent-ls log`",
        )
    for before in (status.get("instances") or [])[1:2]:
        how = before["mode"] or "ended without a word"
        yield (
            "before",
            one_line(f"version {before['version'] or '?'}, {how}, {_runs(len(before['inFlight']))} left to us"),
        )


def _tool_server(held: Json) -> str:
    up = held["state"] == "up"
    tools = f", {held['tools']} tool{'' if held['tools'] == 1 else 's'}" if up else ""
    return one_line(f"{held['name']} in {short_path(str(held['workspace']))}: {held['state']}{tools}", 400)


def _runs(count: int) -> str:
    return f"{count} run{'' if count == 1 else 's'}"


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


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds <= LONGEST_S:
        raise argparse.ArgumentTypeError(f"it is a number of seconds up to {LONGEST_S:g}")
    return seconds


def duration(seconds: float) -> str:
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
