"""The daemon with a note of what its loop does: `python -m benchmarks.turned OUT`, environment as for any daemon.

SIGUSR1 forgets what was noted, SIGUSR2 writes OUT: lines of `seconds turn what`, one for each thing that the loop
calls; for a task, where in its coroutines it goes on.
"""

import asyncio
import os
import signal
import sys
from itertools import count
from time import monotonic
from typing import Any

from agent_ls.daemon.lifecycle import run

DEEPEST = 4

notes: list[tuple[float, int, str]] = []
turns = count(1)


def main() -> int:
    loop: Any = asyncio.base_events.BaseEventLoop
    handle: Any = asyncio.Handle
    once, call = loop._run_once, handle._run

    def turn(self: Any) -> None:
        self.turn = next(turns)
        once(self)

    def noted(self: Any) -> None:
        notes.append((monotonic(), self._loop.turn, _named(self._callback)))
        call(self)

    def write(*_: object) -> None:
        with open(f"{sys.argv[1]}.part", "w", encoding="utf-8") as file:
            file.writelines(f"{at:.7f} {number} {what}\n" for at, number, what in notes)
        os.rename(f"{sys.argv[1]}.part", sys.argv[1])

    loop._run_once, handle._run = turn, noted
    signal.signal(signal.SIGUSR1, lambda *_: notes.clear())
    signal.signal(signal.SIGUSR2, write)
    return run(foreground=False)


def _named(callback: Any) -> str:
    task = getattr(callback, "__self__", None)
    if not isinstance(task, asyncio.Task):
        return getattr(callback, "__qualname__", repr(callback)[:60])
    places: list[str] = []
    inner: Any = task.get_coro()
    while inner is not None:
        frame = next((found for kind in ("cr", "ag", "gi") if (found := getattr(inner, f"{kind}_frame", None))), None)
        if frame is not None:
            places.append(f"{frame.f_code.co_name}:{frame.f_lineno}")
        inner = getattr(inner, "cr_await", None) or getattr(inner, "ag_await", None)
    return f"{task.get_name()[:30]}: {' > '.join(places[-DEEPEST:])}"


if __name__ == "__main__":
    sys.exit(main())
