"""`--profile`, `--trace`, `--turns`: where the time goes, by function, by step of an exchange, by turn of the loop.

Owns this print only; no goal is judged by it.
"""

import os
import pstats
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.model import TOKEN
from benchmarks.rig import Exchange, Rig, Window, ms, pause, until

TEXTS = {
    "stream": "stream 2000",
    "rounds": "read 10",
    "shell": "shell 10",
    "growth": "say 400",
    "say": "say 40",
    "attach": "",
}
SHOWN = 36


def explain(rig: Rig, name: str) -> str:
    text = TEXTS[name]
    plain = rig.window()
    outside = _stretches(rig, plain, text) if text else "attach 200 times"
    plain.client.close()
    return outside + "\n\n" + _inside(rig, text)


def _stretches(rig: Rig, window: Window, text: str) -> str:
    window.open()
    _run(window, text)
    rig.floor.fresh()
    rig.floored(text)
    ours: list[Exchange] = []
    bare: list[Exchange] = []
    for _ in rig.times(12):
        window.leave()
        window.open()
        rig.floor.fresh()
        ours.append(_run(window, text))
        bare.append(rig.floored(text))
    stretches: dict[str, Callable[[Exchange], list[float]]] = {
        "message -> first request": lambda done: [done.asked[0] - done.sent],
        "request -> last byte of its answer": lambda done: done.answers,
        "last byte -> next request": lambda done: done.gaps,
        "last byte -> whole text": lambda done: [done.text - done.answered[-1]],
        "last byte -> completed": lambda done: [done.done - done.answered[-1]],
        "message -> completed": lambda done: [done.done - done.sent],
    }
    lines = [f"`{text}`, medians in ms{'':16}  ours    floor", ""]
    for title, part in stretches.items():
        mine, floor = ([second for done in side for second in part(done)] for side in (ours, bare))
        if mine and floor:
            lines.append(f"  {title:36} {ms(mine):8.2f} {ms(floor):8.2f}")
    lines.append(f"  {'events committed an exchange':36} {ours[-1].events:8}")
    return "\n".join(lines)


def trace(rig: Rig, text: str) -> str:
    """The quickest of some exchanges, from door to door."""
    out = rig.folder / "trace"
    best: tuple[Exchange, list[tuple[float, str]]] | None = None
    with _special(rig, "benchmarks.traced", out) as (pid, window):
        for _ in range(8):
            window.leave()
            window.open()
            window.run("say 5")
            os.kill(pid, signal.SIGUSR1)
            pause(0.05)
            done = window.run(text)
            os.kill(pid, signal.SIGUSR2)
            until(out.exists, "the trace")
            notes = [line.split(" ", 1) for line in out.read_text().splitlines()]
            out.unlink()
            if best is None or done.done - done.sent < best[0].done - best[0].sent:
                best = done, [(float(at), name) for at, name in notes]
    assert best is not None
    done, found = best
    found += [(done.sent, "window: sends"), (done.done, "window: sees completed")]
    found += [(at, "model: asked") for at in done.asked] + [(at, "model: answered") for at in done.answered]
    lines = [f"`{text}`: ms since it was sent, ms since the line before", ""]
    before = done.sent
    for at, name in sorted(found):
        if done.sent <= at <= done.done:
            lines.append(f"  {1000 * (at - done.sent):8.2f} {1000 * (at - before):7.2f}  {name}")
            before = at
    return "\n".join(lines)


def turns(rig: Rig, text: str) -> str:
    """One exchange as the daemon's loop goes through it. Each turn that waits for nobody outside is one too many."""
    out = rig.folder / "turns"
    with _special(rig, "benchmarks.turned", out) as (pid, window):
        for _ in range(5):
            window.run(text)
        pause(0.1)
        os.kill(pid, signal.SIGUSR1)
        pause(0.05)
        done = window.run(text)
        os.kill(pid, signal.SIGUSR2)
        until(out.exists, "the turns")
    lines, number, before = [f"`{text}`: ms since it was sent"], 0, ""
    for line in out.read_text().splitlines():
        at, turn, what = line.split(" ", 2)
        if done.sent <= float(at) <= done.done:
            number += turn != before
            shown = f"{number:4}" if turn != before else " " * 4
            lines.append(f"{shown} {1000 * (float(at) - done.sent):8.2f}  {what}")
            before = turn
    return "\n".join(lines)


def _inside(rig: Rig, text: str) -> str:
    out = rig.folder / "profile"
    count = len(rig.times(12)) if text else 200
    with _special(rig, "benchmarks.profiled", out) as (pid, window):
        _run(window, text or "say 40")
        os.kill(pid, signal.SIGUSR1)
        for _ in range(count):
            if text:
                if not text.startswith("say"):
                    window.leave()
                    window.open()
                _run(window, text)
            else:
                window.call("agent/conversation/attach", conversationId=window.conversation)
        os.kill(pid, signal.SIGUSR2)
        window.call("agent/status")
        until(out.exists, "the profile")
        pause(0.2)
    return _table(out, count)


@contextmanager
def _special(rig: Rig, module: str, out: Path) -> Iterator[tuple[int, Window]]:
    """A daemon that watches itself, in the place of the plain one."""
    rig.daemon.stop()
    command = [sys.executable, "-m", module, str(out)]
    root = Path(__file__).parents[1]
    with subprocess.Popen(command, env=rig.daemon.env, stdin=subprocess.DEVNULL, cwd=root) as process:
        try:
            until(lambda: rig.daemon.socket.exists() or process.poll() is not None, "the daemon's start")
            window = rig.window()
            window.open()
            yield process.pid, window
            window.client.close()
        finally:
            process.terminate()


def _run(window: Window, text: str) -> Exchange:
    return window.run(text, shows=2000 * len(TOKEN) if text.startswith("stream") else 0)


def _table(path: Path, count: int) -> str:
    stats = pstats.Stats(str(path)).stats  # type: ignore[attr-defined]
    whole = sum(own for _, _, own, _, _ in stats.values())
    waiting = sum(own for key, (_, _, own, _, _) in stats.items() if "epoll" in key[2])
    busy = whole - waiting
    lines = [f"inside the daemon's main thread, under a profiler: {1000 * busy / count:.2f} ms busy a repetition", ""]
    lines += _by_package(stats, busy)
    for title, column in (("own time", 2), ("with what it calls", 3)):
        lines.append(f"  {title:58} share   calls a repetition")
        chosen = sorted(stats.items(), key=lambda entry: -entry[1][column])
        rows = [(key, row) for key, row in chosen if "epoll" not in key[2] and (column == 2 or _telling(key[0]))]
        for (file, line, name), row in rows[:SHOWN]:
            where = f"{_short(file)}:{line} {name}" if line else name
            lines.append(f"  {where[:58]:58} {100 * row[column] / busy:5.1f} {row[1] / count:9.1f}")
        lines.append("")
    return "\n".join(lines)


def _by_package(stats: dict[tuple[str, int, str], Any], busy: float) -> list[str]:
    """Own time summed up by who wrote the code; C functions are `built in`."""
    owners: dict[str, float] = {}
    for (file, _, name), row in stats.items():
        parts = Path(file).parts
        if "epoll" in name:
            continue
        if "agent_ls" in parts:
            at = parts.index("agent_ls")
            owner = "/".join(parts[at : at + 3] if parts[at + 1] == "adapters" else parts[at : at + 2])
        elif "site-packages" in parts:
            owner = parts[parts.index("site-packages") + 1]
        else:
            owner = parts[-2] if len(parts) > 2 else "built in" if file == "~" else parts[-1]
        owners[owner] = owners.get(owner, 0) + row[2]
    found = sorted(owners.items(), key=lambda entry: -entry[1])[:16]
    return [*(f"  {owner:58} {100 * spent / busy:5.1f}" for owner, spent in found), ""]


def _telling(file: str) -> bool:
    """Not the loop itself, which calls everything."""
    return not any(part in file for part in ("lifecycle", "asyncio/", "<", "profiled"))


def _short(file: str) -> str:
    return "/".join(Path(file).parts[-2:])
