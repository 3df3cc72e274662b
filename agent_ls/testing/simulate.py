"""Plays histories of the virtual world, one or many: `python -m agent_ls.testing.simulate --seed 7`.

Owns how seeds are spread over processes and how a broken promise is told: with the command that plays it again. What a
history is, is world.py's.
"""

import argparse
import logging
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import chain

from agent_ls.testing.world import History, play

CHUNK = 250


@dataclass
class Tally:
    """What many histories came to; `broken` by seed."""

    histories: int = 0
    events: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    broken: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def add(self, history: History) -> None:
        self.histories += 1
        self.events += history.events
        self.seen += history.seen
        if history.wrong:
            self.broken[history.seed] = history.wrong

    def plus(self, other: "Tally") -> None:
        self.histories += other.histories
        self.events += other.events
        self.seen += other.seen
        self.broken |= other.broken

    def told(self) -> str:
        found = chain.from_iterable(_told(seed, wrong) for seed, wrong in sorted(self.broken.items()))
        befell = ", ".join(f"{times} x {what}" for what, times in sorted(self.seen.items()))
        return "\n".join([*found, f"{self.histories} histories, {self.events} events; {befell}"])


def play_all(seeds: Iterable[int]) -> Tally:
    """In this process. What the runtime logs is the judge's to read, not the terminal's."""
    quiet = logging.getLogger("agent_ls")
    level, spread = quiet.level, quiet.propagate
    quiet.setLevel(logging.ERROR)
    quiet.propagate = False
    tally = Tally()
    try:
        for seed in seeds:
            tally.add(play(seed))
    finally:
        quiet.setLevel(level)
        quiet.propagate = spread
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(prog="simulate", description="Plays seeded histories of the whole runtime.")
    parser.add_argument("--seed", type=int, help="play this one and tell it line by line")
    parser.add_argument("--seeds", type=int, default=2000, help="how many to play")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    if given.seed is not None:
        return _one(given.seed)
    tally = Tally()
    for part in _parts(given.first, given.seeds, given.processes):
        tally.plus(part)
        for seed, wrong in part.broken.items():
            sys.stdout.write("\n".join(_told(seed, wrong)) + "\n")
            sys.stdout.flush()
    sys.stdout.write(tally.told().splitlines()[-1] + "\n")
    return 1 if tally.broken else 0


def _one(seed: int) -> int:
    history = play(seed)
    sys.stdout.write("\n".join([*history.trace, *_told(seed, history.wrong)]) + "\n")
    return 1 if history.wrong else 0


def _parts(first: int, count: int, processes: int) -> Iterator[Tally]:
    chunks = [range(at, min(at + CHUNK, first + count)) for at in range(first, first + count, CHUNK)]
    if processes < 2:
        yield from map(play_all, chunks)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(play_all, chunks)


def _told(seed: int, wrong: Iterable[str]) -> list[str]:
    found = list(wrong)
    return [f"seed {seed}: {found[0]}", f"  play it again: make simulate SEED={seed}"] if found else []


if __name__ == "__main__":
    sys.exit(main())
