"""Work that a daemon before this one began: it waits its turn, is counted, and is given up after too many attempts.

Owns the wait, the count in the ledger and the end of a run that brings down every daemon that works on it. Which
attempt it is and how long it waits is core.effects'. A mistake that is noticed is no matter of this: it ends its run at
once (driver.py).
"""

import logging
from dataclasses import replace
from functools import partial

from agent_ls.core import mend
from agent_ls.core.draft import Decision
from agent_ls.core.effects import WAITS_S, Effect, begun_again, next_attempt, wait_before
from agent_ls.core.moments import later
from agent_ls.core.owed import End, Nothing, owed
from agent_ls.core.projection import ConversationState
from agent_ls.runtime.actor import Actor
from agent_ls.runtime.driver import Driver
from agent_ls.runtime.patience import patiently, record_patiently
from agent_ls.runtime.services import Services

log = logging.getLogger(__name__)


async def begin_again(actor: Actor, driver: Driver, services: Services, *, found_at: int, moved: bool) -> None:
    """Returns when the driver may go on. `found_at`: the seq before anything was settled; `moved`: see core.effects."""
    effect = await _effect_of(actor, services)
    if effect is None or isinstance(owed(actor.state), Nothing | End):
        return
    attempt = next_attempt(effect, seq=found_at, moved=moved)
    wait_s = wait_before(attempt)
    if wait_s is None:
        log.error("given up after %d attempts", len(WAITS_S), extra={"conversation": actor.id})
        tried = len(WAITS_S)
        await record_patiently(
            actor, lambda state, at: mend.worn_out(state, effect.id, attempts=tried, at=at), services.clock
        )
        return
    if wait_s:
        log.warning("attempt %d begins in %d s", attempt, wait_s, extra={"conversation": actor.id})
        waits = replace(effect, available_at=later(services.clock.now(), wait_s))
        await patiently(partial(services.ledger.take_up, waits, actor.state.epoch), services.clock)
        if await driver.stirred(wait_s):
            attempt = 2
    begun = begun_again(effect, attempt, seq=actor.state.seq)
    await patiently(partial(services.ledger.take_up, begun, actor.state.epoch), services.clock)


async def _effect_of(actor: Actor, services: Services) -> Effect | None:
    run, wish = actor.state.active, actor.state.conversation.compacting
    due = run.active_attempt_id if run is not None else None if wish is None else wish.id
    found = await patiently(services.ledger.owed, services.clock)
    return next((each for each in found if each.id == due), None)


def _give_up(state: ConversationState, at: str, *, attempt_id: str) -> Decision | None:
    return mend.worn_out(state, attempt_id, attempts=len(WAITS_S), at=at)
