"""The driver of a conversation: looks at what is owed, does it, looks again.

Owns that at most one loop works for a conversation and that it stops as soon as a person has to answer; an answer, a
message or a restart simply wakes it again. Does not own how a model is asked (ring.py) nor how calls run (batch.py).
"""

import logging
from contextlib import suppress
from functools import partial

import anyio
from anyio.abc import TaskGroup

from agent_ls.core import steer, step
from agent_ls.core.attempt import AttemptFact
from agent_ls.core.draft import Decision
from agent_ls.core.items import Notice
from agent_ls.core.owed import AskModel, End, Join, Nothing, Owed, RunCalls, owed
from agent_ls.core.projection import ConversationState
from agent_ls.runtime.actor import Actor
from agent_ls.runtime.batch import Batch
from agent_ls.runtime.patience import Fenced, patiently, record_patiently
from agent_ls.runtime.ring import Ring
from agent_ls.runtime.services import Services

log = logging.getLogger(__name__)


class Driver:
    """`live`: a loop works on it now. `held`: what a daemon before this one began is being settled first.

    While the daemon drains, what runs comes to its commit and nothing new begins: the successor goes on from there.
    """

    def __init__(self, actor: Actor, services: Services) -> None:
        self._actor = actor
        self._services = services
        self._ring = Ring(actor, services)
        self._batch = Batch(actor, services, self._ring.prepared)
        self._woken = anyio.Event()
        self._scope = anyio.CancelScope()
        self._over = anyio.Event()
        self.live = False
        self.held = False

    def wake(self) -> None:
        """Called after every commit of the conversation. Must not wait."""
        run = self._actor.state.active
        if run is not None and run.interrupt is not None:
            self._ring.stop_asking()
        self._woken.set()
        if not self.live and not self.held and not isinstance(self._due(), Nothing):
            self._over = anyio.Event()
            self.live = self._services.supervisor.start(f"driver {self._actor.id}", self._drive)

    def abandon(self) -> None:
        """Ends what runs; what it leaves is the successor's to take over."""
        self._scope.cancel()

    async def stirred(self, within_s: float) -> bool:
        """Whether something is committed in the conversation before the time is over. Only while it is held."""
        self._woken = anyio.Event()
        async with anyio.create_task_group() as group:

            async def wait() -> None:
                await self._services.clock.sleep(within_s)
                group.cancel_scope.cancel()

            group.start_soon(wait)
            await self._woken.wait()
            group.cancel_scope.cancel()
        return self._woken.is_set()

    async def over(self) -> None:
        """Waits until nothing runs any more."""
        if self.live:
            await self._over.wait()

    def _due(self) -> Owed:
        """What is owed and may begin. The end of a run is one commit, and may always."""
        due = Nothing() if self._actor.fenced else owed(self._actor.state)
        return Nothing() if self._services.drain.begun and not isinstance(due, End) else due

    async def _drive(self) -> None:
        try:
            with self._services.drain.working(self._actor.id), anyio.CancelScope() as self._scope:
                async with anyio.create_task_group() as group:
                    while await self._next(group):
                        pass
        except Exception as error:
            if self._actor.fenced:
                log.info("%s is not this daemon's any more", self._actor.id)
            else:
                # A bug of ours must not leave a run that neither goes on nor ends.
                log.exception("driver of %s failed", self._actor.id)
                await self._give_up(error)
        finally:
            self.live = False
            self._over.set()
        # What was committed between the last look and here has met a driver that seemed alive.
        self.wake()

    async def _next(self, group: TaskGroup) -> bool:
        """Does one owed thing. False when nothing is owed and nothing runs; no await lies between look and return."""
        self._woken = anyio.Event()
        match self._due():
            case Join() as border:
                decide = partial(_join, run_id=border.run_id)
                await record_patiently(self._actor, decide, self._services.clock)
                return True
            case AskModel() as ask:
                begun = await self._ring.ask(ask.run_id, ask.attempt_id)
                if begun is not None:
                    self._batch.go_on(group, begun)
                return True
            case RunCalls() as calls if self._batch.start(group, calls.item_ids):
                return True
            case End() as end if not self._batch.running:
                await self._end(end)
                return True
            case End():
                self._batch.cancel()
            case RunCalls() | Nothing():
                pass
        if not self._batch.running:
            return False
        await self._woken.wait()
        return True

    async def _end(self, end: End) -> None:
        said = await self._ring.take_said()
        await record_patiently(
            self._actor,
            lambda state, at: step.end(state, end.run_id, end.outcome, said=said, at=at),
            self._services.clock,
        )
        if self._services.feed.clear_all(self._actor.id):
            drop = partial(self._services.ledger.drop_partials, self._actor.id)
            await patiently(drop, self._services.clock)

    async def _give_up(self, error: Exception) -> None:
        run = self._actor.state.active
        if run is None or self._services.supervisor.stopping:
            return
        notice = Notice(
            code="internal_error",
            message=f"agent-ls made a mistake and stopped this run ({type(error).__name__}).",
            hint="`agent-ls log` shows where; send the message again to go on.",
        )
        decide = partial(_fail, run_id=run.id, notice=notice)
        with suppress(Fenced):
            await record_patiently(self._actor, decide, self._services.clock)


def _join(state: ConversationState, at: str, *, run_id: str) -> Decision | None:
    return steer.join_now(state, run_id, at)


def _fail(state: ConversationState, at: str, *, run_id: str, notice: Notice) -> Decision | None:
    return step.end(state, run_id, AttemptFact.FAILED, error=notice, at=at)
