"""The daemon with a stopwatch at its doors: `python -m benchmarks.traced OUT`, environment as for any daemon.

SIGUSR1 forgets what was noted, SIGUSR2 writes OUT: lines of `seconds name >` at each entry and `<` at each return, on
the same clock as every other process of the machine. A door that is not there any more is left out.
"""

import functools
import importlib
import inspect
import os
import signal
import sys
from collections.abc import Callable
from time import monotonic
from typing import Any

from agent_ls.daemon.lifecycle import run

DOORS = (
    "agent_ls.editor.framing:MessageDecoder feed",
    "agent_ls.editor.connection:Connection _take _run",
    "agent_ls.editor.attachments:Attachments resolve",
    "agent_ls.editor.commands:Commands run",
    "agent_ls.editor.window:Window on_events on_stream",
    "agent_ls.runtime.actor:Actor command record",
    "agent_ls.runtime.driver:Driver wake _next",
    "agent_ls.runtime.ring:Ring ask _request _take",
    "agent_ls.runtime.triage:Triager judge _one _judged",
    "agent_ls.runtime.batch:Batch _run _locked _started _finish",
    "agent_ls.runtime.feed:Feed publish",
    "agent_ls.adapters.ledger.sqlite:SqliteLedger append load receipt drop_partials",
    "agent_ls.adapters.ledger.writer:Writer _commit",
    "agent_ls.adapters.models.http:ModelHttp stream _read",
    "agent_ls.adapters.models.channel:Channel send",
    "agent_ls.adapters.ledger.plan:Prepared __init__",
    "agent_ls.adapters.host.files:DiskFiles locate read",
    "agent_ls.adapters.host.processes:LocalProcesses start _reap_orphans",
    "subprocess:Popen _execute_child",
    "agent_ls.adapters.tools.read:ReadTool prepare run",
    "agent_ls.adapters.tools.shell:ShellTool prepare run",
    "asyncio.selector_events:_SelectorSocketTransport write _read_ready",
)

notes: list[tuple[float, str]] = []


def wrapped(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(function)
    async def waiting(*args: Any, **more: Any) -> Any:
        notes.append((monotonic(), f"{name} >"))
        try:
            return await function(*args, **more)
        finally:
            notes.append((monotonic(), f"{name} <"))

    @functools.wraps(function)
    def plain(*args: Any, **more: Any) -> Any:
        notes.append((monotonic(), f"{name} >"))
        try:
            return function(*args, **more)
        finally:
            notes.append((monotonic(), f"{name} <"))

    return waiting if inspect.iscoroutinefunction(function) else plain


def main() -> int:
    for door in DOORS:
        where, *names = door.split()
        module, _, kind = where.partition(":")
        owner = getattr(importlib.import_module(module), kind, None)
        for name in names:
            if inspect.isfunction(function := getattr(owner, name, None)):
                setattr(owner, name, wrapped(function, f"{kind.lstrip('_')}.{name}"))

    def write(*_: object) -> None:
        with open(f"{sys.argv[1]}.part", "w", encoding="utf-8") as file:
            file.writelines(f"{at:.7f} {name}\n" for at, name in notes)
        os.rename(f"{sys.argv[1]}.part", sys.argv[1])

    signal.signal(signal.SIGUSR1, lambda *_: notes.clear())
    signal.signal(signal.SIGUSR2, write)
    return run(foreground=False)


if __name__ == "__main__":
    sys.exit(main())
