"""What befalls a world: how often which fault, drawn from the seed, and the gates at which they strike.

Owns the odds and the faults themselves. A gate stands before and behind every call of a port, so that each await of
the runtime is a place to crash or to stall at.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields
from random import Random
from typing import Final

from agent_ls.core.errors import Code, Refusal
from agent_ls.ports.ledger import LedgerError
from agent_ls.testing.world_loop import Process, Turn, WorldLoop, for_ever, pause

LEASE_S: Final = 30.0
MOST_CRASHES: Final = 5
MOST_STALLS: Final = 5


@dataclass(frozen=True, kw_only=True)
class Odds:
    """Chances at each gate, or each message. Most worlds know only some kinds of trouble: it is found sooner."""

    crash: float = 0.0
    stall: float = 0.0
    outage: float = 0.0
    slow: float = 0.0
    lost_answer: float = 0.0
    duplicate: float = 0.0
    late: float = 0.0
    clock_back: float = 0.0
    restart: float = 0.0
    editor_gone: float = 0.0
    model_trouble: float = 0.0


_WORST: Final = Odds(
    crash=0.02,
    stall=0.015,
    outage=0.02,
    slow=0.02,
    lost_answer=0.02,
    duplicate=0.3,
    late=0.3,
    clock_back=0.02,
    restart=0.01,
    editor_gone=0.1,
    model_trouble=0.2,
)


def draw_odds(chance: Random) -> Odds:
    drawn = {}
    for field in fields(Odds):
        scale = chance.choice([0.0, 0.0, 0.3, 1.0])
        drawn[field.name] = scale * float(getattr(_WORST, field.name))
    return Odds(**drawn)


class Fate:
    """Strikes while `calm` is False. `seen` counts what happened."""

    def __init__(self, chance: Random, loop: WorldLoop, *, odds: Odds, tell: Callable[[str], None]) -> None:
        self.chance = chance
        self.odds = odds
        self.calm = False
        self.over = False
        self.seen: Counter[str] = Counter()
        self.on_crash: Callable[[Process], None] = lambda _: None
        self.on_restart: Callable[[Process], None] = lambda _: None
        self.on_clock_back: Callable[[Process, float], None] = lambda _, __: None
        self._loop = loop
        self._tell = tell
        self._down_until: dict[str, float] = {}
        self._slow_until: dict[str, float] = {}

    def strikes(self, odds: float) -> bool:
        return not self.calm and odds > 0 and self.chance.random() < odds

    def count(self, what: str, process: Process) -> None:
        self.seen[what] += 1
        self._tell(f"{process.name}: {what}")

    async def gate(self, process: Process, place: str) -> None:
        """Time passes; the process may end or stand still here."""
        if self.over:
            return
        if self.strikes(self.odds.crash) and self.seen["crash"] < MOST_CRASHES:
            self.count("crash", process)
            self._tell(f"{process.name}: crashes at {place}")
            process.kill()
            self.on_crash(process)
            await for_ever()
        if self.strikes(self.odds.stall) and self.seen["stall"] < MOST_STALLS:
            self.stall(process, self.chance.choice([1.0, LEASE_S * 0.9, LEASE_S * 1.1, LEASE_S * 2.5]), place)
            await Turn()
        if self.strikes(self.odds.restart):
            self.on_restart(process)
        if self.strikes(self.odds.clock_back):
            self.count("clock_back", process)
            self.on_clock_back(process, self.chance.choice([0.5, 60.0, 7200.0]))
        drawn = self.chance.random()
        if drawn < 0.35:
            await Turn()
        elif drawn < 0.5:
            await pause(self.chance.choice([0.001, 0.01, 0.1, 1.0]))

    def stall(self, process: Process, seconds: float, place: str) -> None:
        self.count("stall", process)
        self._tell(f"{process.name}: stands still for {seconds} s at {place}")
        process.stall()
        self._loop.outside(seconds, process.resume)

    async def ledger_gate(self, process: Process, place: str) -> None:
        """As `gate`; and the ledger may be slow, or away for a while."""
        await self.gate(process, place)
        if self.calm or self.over:
            return
        if self.strikes(self.odds.slow):
            self.count("slow", process)
            self._slow_until[process.name] = self._loop.time() + self.chance.choice([5.0, 20.0])
        if self.strikes(self.odds.outage):
            self.count("outage", process)
            self._down_until[process.name] = self._loop.time() + self.chance.choice([0.05, 1.0, 8.0, 40.0])
        if self._loop.time() < self._slow_until.get(process.name, 0.0):
            await pause(self.chance.choice([0.5, 3.0]))
        if self._loop.time() < self._down_until.get(process.name, 0.0):
            raise unavailable()

    def latency(self) -> float:
        if self.strikes(self.odds.late):
            return self.chance.choice([0.5, 5.0, 45.0])
        return self.chance.choice([0.0, 0.001, 0.02])


def unavailable() -> LedgerError:
    return LedgerError(Refusal(Code.LEDGER_UNAVAILABLE, "The ledger cannot be written just now."))
