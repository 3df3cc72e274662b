"""Writing down what has already happened: it cannot be refused, only delayed.

Owns the waits while the ledger cannot be written (disk full, locked by another process).
"""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeVar

from agent_ls.ports.host import Clock
from agent_ls.ports.ledger import LedgerError
from agent_ls.runtime.actor import FENCING, Actor, Decide

log = logging.getLogger(__name__)

LONGEST_WAIT_S: Final = 5.0

T = TypeVar("T")


class Fenced(Exception):
    """The conversation is another daemon's now, or deleted: whatever this one still does there is void."""


async def record_patiently(actor: Actor, decide: Decide, clock: Clock) -> bool:
    return await patiently(partial(actor.record, decide), clock)


async def patiently(write: Callable[[], Awaitable[T]], clock: Clock) -> T:
    """Writes, again and again while the ledger refuses; cancelling ends it. Raises Fenced where waiting is no use."""
    wait = 0.1
    while True:
        try:
            return await write()
        except LedgerError as error:
            if error.refusal.code in FENCING:
                raise Fenced(error.refusal.message) from error
            log.warning("waiting for the ledger: %s", error.refusal.code)
        await clock.sleep(wait)
        wait = min(wait * 2, LONGEST_WAIT_S)
