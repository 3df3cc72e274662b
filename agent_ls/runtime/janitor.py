"""The janitor: looks now and then whether the invariants hold for what is in memory, and puts right what does not.

Owns when it looks, that a conversation in the middle of something is left alone, and what is tried in which order:
owe again and wake, then load the conversation anew from the ledger, then end the run. Does not own the invariants
(core.invariants) nor the facts of a repair (core.mend). Logs name things and show nothing that was said.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from agent_ls.core import mend
from agent_ls.core.invariants import violations
from agent_ls.ports.ledger import LedgerError
from agent_ls.runtime.actor import Actor, Decide
from agent_ls.runtime.registry import Registry

log = logging.getLogger(__name__)

LOOK_S: Final = 30.0


@dataclass
class _Case:
    """What was found in a conversation, and how often something was tried against it."""

    found: tuple[str, ...] = ()
    tried: int = 0


class Janitor:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._cases: dict[str, _Case] = {}
        self.looks = 0
        self.found = 0
        self.repaired = 0

    async def watch(self) -> None:
        """Looks at once, then every 30 s, for the life of the daemon."""
        services = self._registry.services
        while not services.drain.begun:
            try:
                await self.look()
            except LedgerError as error:
                log.warning("the invariants could not be looked at: %s", error.refusal.code)
            await services.clock.sleep(LOOK_S)

    async def look(self) -> None:
        actors = self._registry.actors()
        seqs = {actor.id: actor.state.seq for actor in actors}
        self._cases = {known: case for known, case in self._cases.items() if known in seqs}
        unsettled = {effect.id for effect in await self._registry.services.ledger.owed()}
        for actor in actors:
            # What moved while the effects were read does not fit to them.
            if actor.idle and actor.state.seq == seqs[actor.id]:
                await self._one(actor, unsettled)
        self.looks += 1

    def status(self) -> dict[str, Any]:
        """`violations` are those ever found, `open` the conversations in which some still stand."""
        return {
            "looks": self.looks,
            "violations": self.found,
            "repaired": self.repaired,
            "open": list(self._cases),
        }

    async def _one(self, actor: Actor, unsettled: Collection[str]) -> None:
        found = self._violations(actor, unsettled)
        if found and await self._is_behind(actor):
            return
        case = self._cases.get(actor.id, _Case())
        if not found:
            if self._cases.pop(actor.id, None) is not None:
                self.repaired += 1
                log.info("the invariants hold again", extra={"conversation": actor.id})
            return
        self._note(actor.id, case, found)
        repairs: Sequence[Callable[[], Any]] = (
            partial(self._owe_again, actor, unsettled),
            partial(self._load_anew, actor),
            partial(self._give_up, actor),
        )
        for repair in repairs[case.tried :]:
            case.tried += 1
            if await repair():
                return

    async def _is_behind(self, actor: Actor) -> bool:
        """Whether only its picture here is wrong: another daemon has gone on with it."""
        seq = actor.state.seq
        head = await self._registry.services.ledger.head(actor.id)
        if actor.fenced or not actor.idle or actor.state.seq != seq:
            return True
        if head is not None and head.seq == seq:
            return False
        log.info("the conversation has moved on without this daemon", extra={"conversation": actor.id})
        actor.fence()
        return True

    def _violations(self, actor: Actor, unsettled: Collection[str]) -> tuple[str, ...]:
        driver = self._registry.driver(actor.id)
        live = driver is not None and (driver.live or driver.held)
        return tuple(violations(actor.state, live=live, unsettled=unsettled))

    def _note(self, conversation_id: str, case: _Case, found: tuple[str, ...]) -> None:
        self._cases[conversation_id] = case
        fresh = [each for each in found if each not in case.found]
        case.found = found
        self.found += len(fresh)
        for each in fresh:
            log.error("an invariant does not hold: %s", each, extra={"conversation": conversation_id})

    async def _owe_again(self, actor: Actor, unsettled: Collection[str]) -> bool:
        seq = actor.state.seq
        done = await self._record(
            actor,
            lambda state, at: mend.owe_again(state, unsettled=unsettled, at=at) if state.seq == seq else None,
        )
        driver = self._registry.driver(actor.id)
        if driver is not None:
            driver.wake()
        return done or (driver is not None and driver.live)

    async def _give_up(self, actor: Actor) -> bool:
        return await self._record(actor, lambda state, at: mend.give_up(state, at=at))

    async def _load_anew(self, actor: Actor) -> bool:
        log.warning("the conversation is loaded anew", extra={"conversation": actor.id})
        driver = self._registry.driver(actor.id)
        if driver is not None:
            driver.abandon()
        self._registry.forget(actor.id)
        await self._registry.actor(actor.id)
        return True

    async def _record(self, actor: Actor, decide: Decide) -> bool:
        try:
            return await actor.record(decide)
        except (LookupError, ValueError) as error:
            # The state is not what it has to be, so a decision on it may be impossible: the next repair is tried.
            log.error("a repair could not be decided: %s", type(error).__name__, extra={"conversation": actor.id})
            return False
