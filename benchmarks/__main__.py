"""`python -m benchmarks`: every number beside its floor, in one run on one machine.

Owns the order of measuring. `--quick` repeats less; `--only GROUP` measures one group; `--json` prints the rows as
data; `--profile GROUP` prints where the daemon's time goes while that group runs, `--trace "shell 1"` one exchange
step by step, `--turns "shell 1"` what the loop does for it (what can be said to the model: model.py).
"""

import argparse
import os
import platform
import sys
from collections.abc import Callable
from time import monotonic

from benchmarks import attach, explain, pieces, recovery, rounds, search, stop, stream, table, windows
from benchmarks.rig import Rig, built, uri
from benchmarks.seed import Seeded, seed

Measure = Callable[[Rig, dict[str, Seeded]], list[table.Row]]

GROUPS: dict[str, tuple[str, Measure]] = {
    "stream": ("messages", lambda rig, _: stream.measure(rig)),
    "rounds": ("tools", lambda rig, _: rounds.measure(rig)),
    "pieces": ("single pieces", lambda rig, _: pieces.measure(rig)),
    "search": ("searches and locks", lambda rig, _: search.measure(rig)),
    "growth": ("a long conversation", lambda rig, _: rounds.growth(rig)),
    "attach": ("windows", attach.measure),
    "stop": ("stops", lambda rig, _: stop.measure(rig)),
    "windows": ("many windows, and deaths under them", lambda rig, _: windows.measure(rig)),
    "recovery": ("starts", lambda rig, _: recovery.measure(rig)),
    "resting": ("at rest", lambda rig, _: attach.resting(rig)),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, under 25 s")
    parser.add_argument("--json", action="store_true", help="rows as data")
    parser.add_argument("--only", choices=GROUPS, action="append", help="measure this group; may be repeated")
    parser.add_argument("--profile", choices=explain.TEXTS, help="where the time goes")
    parser.add_argument("--trace", metavar="TEXT", help="one exchange, from door to door")
    parser.add_argument("--turns", metavar="TEXT", help="one exchange, turn by turn of the daemon's loop")
    parser.add_argument("--place", help="folder for the databases, where /tmp is no disk")
    options = parser.parse_args()
    begin = monotonic()
    with built(quick=options.quick, place=options.place) as rig:
        if options.profile:
            print(explain.explain(rig, options.profile))
            return 0
        if options.trace:
            print(explain.trace(rig, options.trace))
            return 0
        if options.turns:
            print(explain.turns(rig, options.turns))
            return 0
        groups = _measured(rig, options.only or list(GROUPS))
    machine = {
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        "kernel": platform.release(),
        "load": round(os.getloadavg()[0], 2),
        "seconds": round(monotonic() - begin, 1),
    }
    if options.json:
        print(table.as_json(groups, machine=machine))
    else:
        print(table.shown(groups))
        print("\n" + ", ".join(f"{name} {value}" for name, value in machine.items()))
    return 0


def _measured(rig: Rig, names: list[str]) -> list[table.Group]:
    seeded = seed(rig.daemon.state, uri(rig.workspace), attach.SIZES) if "attach" in names else {}
    rig.window().client.close()
    groups = []
    for name, (title, measure) in GROUPS.items():
        if name in names:
            print(f"{title} ...", file=sys.stderr, flush=True)
            if name == "recovery" and groups:
                groups.append(table.Group("memory", [attach.after(rig)]))
            groups.append(table.Group(title, measure(rig, seeded)))
    return groups


if __name__ == "__main__":
    sys.exit(main())
