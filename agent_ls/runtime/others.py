"""The other daemons on a shared ledger: what they commit is told here, what they leave is taken up here.

Owns the wait for their hints and the slow look besides, which conversations of theirs are followed and how far their
windows have been told, and that this daemon knows what it still holds. Hints are never the data: what happened is read
from the ledger. Does not own how a command is decided (`decide`) nor what waits for a person (`told`).
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

import anyio

from agent_ls.core.errors import Refusal
from agent_ls.core.request import Request
from agent_ls.ports.ledger import LedgerError, Summary
from agent_ls.ports.shared import Handed, Shared
from agent_ls.runtime.actor import Actor
from agent_ls.runtime.registry import Registry

log = logging.getLogger(__name__)

LOOK_S: Final = 5.0
TICK_S: Final = 1.0
AFTER_S: Final = 0.05
# A busy daemon elsewhere hints at every commit: what nobody holds is not looked for as often.
UNHELD_S: Final = 0.2
LONGEST_REST_S: Final = 60.0
BATCH: Final = 256


@dataclass(frozen=True, kw_only=True)
class Abroad:
    """A conversation of another daemon as it stands now; no summary when it is gone."""

    conversation_id: str
    summary: Summary | None
    requests: Sequence[Request]


class Others:
    """`ttl_s` is how long this daemon's word counts after its last sign of life."""

    def __init__(
        self,
        registry: Registry,
        shared: Shared,
        *,
        ttl_s: float,
        decide: Callable[[Handed], Awaitable[None]],
        told: Callable[[Abroad], None],
    ) -> None:
        self._registry = registry
        self._services = registry.services
        self._shared = shared
        self._ttl_s = ttl_s
        self._decide = decide
        self._told = told
        self._followed: dict[str, int] = {}
        self._changed: dict[str, None] = {}
        self._all = True
        self._full_at = self._take_up_at = 0.0
        self._news = anyio.Event()
        self._publishing = anyio.Lock()
        self._resting: dict[str, tuple[int, float]] = {}
        self._waiters: dict[str, anyio.Event] = {}
        self._sure_until = self._services.clock.monotonic() + ttl_s
        registry.before_actor = self.catch_up
        registry.on_left = self.follow
        self._services.feed.may_send = self.certain

    def certain(self) -> bool:
        """Whether what is driven here is surely still this daemon's."""
        return self._services.clock.monotonic() < self._sure_until

    def follow(self, conversation_id: str, seq: int) -> None:
        """Windows here have been told of the conversation up to `seq`; whoever writes it, they hear of the rest."""
        if self._registry.live(conversation_id) is None:
            self._followed.setdefault(conversation_id, seq)
            self.stir(conversation_id)

    def stir(self, conversation_id: str | None) -> None:
        """Something may have happened there; None: anywhere."""
        if conversation_id is None:
            self._all = True
        else:
            self._changed[conversation_id] = None
            if (waiter := self._waiters.pop(conversation_id, None)) is not None:
                waiter.set()
        self._news.set()

    def next_change(self, conversation_id: str) -> anyio.Event:
        """Set at the next hint about the conversation."""
        return self._waiters.setdefault(conversation_id, anyio.Event())

    async def catch_up(self, conversation_id: str, seq: int) -> None:
        """Tells windows here what happened until `seq`, before this daemon itself goes on there."""
        async with self._publishing:
            after = self._followed.get(conversation_id, seq) if self._services.feed.attached(conversation_id) else seq
            while after < seq:
                after = await self._publish(conversation_id, after)
            self._followed.pop(conversation_id, None)
            # What another daemon said and did not commit is not what this one is going to say.
            self._services.feed.clear_all(conversation_id)

    async def listen(self) -> None:
        """For the life of the daemon."""
        async for hint in self._shared.changes():
            self.stir(hint)

    async def stay_certain(self) -> None:
        """Renews the lease and looks what is still held, by a clock that counts sleep."""
        due = 0.0
        while True:
            now = self._services.clock.monotonic()
            if now >= due:
                try:
                    await self._shared.renew()
                    await self._look_at_claims()
                except LedgerError as error:
                    log.warning("nobody knows whose the conversations are: %s", error.refusal.code)
                else:
                    due = now + self._ttl_s / 3
                    self._sure_until = now + self._ttl_s
                    self._services.feed.go_on()
            await self._services.clock.sleep(min(TICK_S, self._ttl_s / 6))

    async def work(self) -> None:
        """Looks at every hint, and now and then without one."""
        monotonic = self._services.clock.monotonic
        while True:
            with anyio.move_on_after(max(0.0, min(self._full_at, self._take_up_at) - monotonic())):
                await self._news.wait()
            self._news = anyio.Event()
            everything, self._all = self._all or monotonic() >= self._full_at, False
            changed, self._changed = list(self._changed), {}
            try:
                await self._look(changed, everything=everything)
            except LedgerError as error:
                log.warning("what other daemons did cannot be looked at: %s", error.refusal.code)
                self._full_at = self._take_up_at = monotonic() + TICK_S

    async def _look(self, changed: Sequence[str], *, everything: bool) -> None:
        now = self._services.clock.monotonic()
        ours = [known for known in changed if self._registry.live(known) is not None]
        if ours and not everything:
            await self._look_at_claims()
        if ours or everything:
            for handed in await self._shared.handed_over():
                await self._decide_apart(handed)
        for known in [*changed, *(self._followed if everything else ())]:
            if self._registry.live(known) is None:
                await self._tell(known)
        if everything:
            await self._tell_of_requests()
            await self._give_back()
            self._full_at = now + LOOK_S
        if everything or now >= self._take_up_at:
            await self._take_up(now)
        elif len(ours) < len(changed):
            self._take_up_at = min(self._take_up_at, now + UNHELD_S)

    async def _decide_apart(self, handed: Handed) -> None:
        """In order, and a mistake of ours in one of them is the end of nothing else."""
        done = anyio.Event()

        async def work() -> None:
            try:
                await self._decide(handed)
            except LedgerError as error:
                log.warning("a command has to wait: %s", error.refusal.code)
            finally:
                done.set()

        if self._services.supervisor.start(f"command {handed.command_id}", work):
            await done.wait()

    async def _look_at_claims(self) -> None:
        actors = self._registry.actors()
        held = await self._shared.held() if actors else {}
        for actor in actors:
            if held.get(actor.id) != actor.state.epoch and self._registry.live(actor.id) is actor:
                log.info("another daemon has taken over", extra={"conversation": actor.id})
                self._registry.lost(actor)

    async def _tell(self, conversation_id: str) -> None:
        async with self._publishing:
            if not self._services.feed.attached(conversation_id):
                self._followed.pop(conversation_id, None)
            after = self._followed.get(conversation_id)
            while after is not None and self._registry.live(conversation_id) is None:
                before, after = after, await self._publish(conversation_id, after)
                if after - before < BATCH:
                    break
            if after is not None:
                await self._show_text(conversation_id)
        await self._tell_summary(conversation_id)

    async def _publish(self, conversation_id: str, after: int) -> int:
        events = await self._services.ledger.read(conversation_id, after, BATCH)
        if not events:
            return after
        self._services.feed.publish(conversation_id, events)
        self._followed[conversation_id] = events[-1].seq
        return events[-1].seq

    async def _show_text(self, conversation_id: str) -> None:
        """What is being said there, as far as it is written down."""
        texts = await self._services.ledger.partials(conversation_id)
        if self._registry.live(conversation_id) is None:
            self._services.feed.show(conversation_id, texts)

    async def _tell_summary(self, conversation_id: str) -> None:
        ledger = self._services.ledger
        summary = await ledger.summary(conversation_id)
        requests = await ledger.requests(None, conversation_id) if summary and summary.pending_requests else ()
        if self._registry.live(conversation_id) is None:
            self._told(Abroad(conversation_id=conversation_id, summary=summary, requests=requests))

    async def _tell_of_requests(self) -> None:
        """Of conversations in which somebody is waited for; the rest of a list is read when it is asked for."""
        found = {request.conversation_id for request in await self._services.ledger.requests(None, None)}
        for conversation_id in found:
            if self._registry.live(conversation_id) is None and conversation_id not in self._followed:
                await self._tell_summary(conversation_id)

    async def _take_up(self, now: float) -> None:
        """Goes on with what is owed and nobody works on; notes when to look again."""
        self._take_up_at = now + LOOK_S
        if self._services.drain.begun:
            return
        found, soonest_s = await self._shared.unheld()
        if soonest_s is not None:
            self._take_up_at = now + min(LOOK_S, soonest_s + AFTER_S)
        for conversation_id in found:
            taken = await self._registry.actor(conversation_id)
            if not isinstance(taken, Refusal):
                log.info("taken up from another daemon", extra={"conversation": conversation_id})
                self.stir(conversation_id)

    async def _give_back(self) -> None:
        """Releases what has been at rest for a while, so that whoever is asked next may have it at once."""
        now = self._services.clock.monotonic()
        resting: dict[str, tuple[int, float]] = {}
        for actor in self._registry.actors():
            if self._registry.rests(actor):
                seq, since = self._resting.get(actor.id, (actor.state.seq, now))
                resting[actor.id] = (seq, since) if seq == actor.state.seq else (actor.state.seq, now)
        self._resting = resting
        for actor in [one for one in self._registry.actors() if self._over(one, now)]:
            await self._registry.release(actor)

    def _over(self, actor: Actor, now: float) -> bool:
        rest = self._resting.get(actor.id)
        return rest is not None and now - rest[1] >= min(LONGEST_REST_S, 2 * self._ttl_s)
