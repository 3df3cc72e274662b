"""The record of daemons that held a ledger: which, of what version, from when to when, and how each ended.

Owns nothing. A ledger that keeps one implements `Instances`; `agent-ls status` shows it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, kw_only=True)
class Instance:
    """One boot of a daemon. `mode` is `shutdown` or `handoff`; None for one that goes on, or ended without a word.

    `in_flight` are the runs that it left to its successor, `epochs` the lowest and the highest that it claimed with,
    `config` tells one state of the configuration from another.
    """

    boot_id: str
    version: str
    started_at: str
    config: str = ""
    ended_at: str | None = None
    mode: str | None = None
    in_flight: tuple[str, ...] = ()
    epochs: tuple[int, int] | None = None


@runtime_checkable
class Instances(Protocol):
    def ends_as(self, mode: str, in_flight: Sequence[str]) -> None:
        """Says what `close` will put on record."""
        ...

    async def instances(self, limit: int) -> tuple[str, Sequence[Instance]]:
        """(id of the ledger's instance, its boots, newest first)."""
        ...
