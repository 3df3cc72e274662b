"""The driver of a conversation: looks at what is owed, does it, looks again.

Owns that at most one loop works for a conversation and that it stops as soon as a person has to answer; an answer, a
message or a restart simply wakes it again. Does not own how a model is asked (ring.py) nor how calls run (batch.py).
"""

import logging
from contextlib import suppress
from functools import partial
from typing import Final

import anyio
from anyio.abc import TaskGroup

from agent_ls.core import compacting, finalize, steer, step, successor, wait
from agent_ls.core.attempt import AttemptFact
from agent_ls.core.draft import Decision
from agent_ls.core.items import Notice
from agent_ls.core.moments import seconds_between
from agent_ls.core.owed import AskModel, Begin, Capture, Compact, End, Join, Nothing, Owed, RunCalls, Wait, owed
from agent_ls.core.projection import ConversationState
from agent_ls.core.retry import LONGEST_S
from agent_ls.core.run import RunStatus
from agent_ls.core.stream import Phase
from agent_ls.ports.checkpoints import CaptureStatus
from agent_ls.runtime.actor import Actor
from agent_ls.runtime.batch import Batch
from agent_ls.runtime.patience import Fenced, patiently, record_patiently
from agent_ls.runtime.ring import Ring
from agent_ls.runtime.services import Services

log = logging.getLogger(__name__)

LOCAL_END_S: Final = 10.0
NOT_OVER: Final = Notice(
    code="not_over",
    message=f"A call did not end within {LOCAL_END_S:g} s, so the run was ended without it. What it did is not known.",
    hint="`agent-ls log` names it.",
)


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
        self._ring.look(self._actor.state.active)
        self._batch.cancel_stopped()
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
        """What is owed and may begin. The end of a run may always."""
        due = Nothing() if self._actor.fenced else owed(self._actor.state)
        return Nothing() if self._services.drain.begun and not isinstance(due, End | Capture) else due

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
                await self._join(border)
                return True
            case AskModel() as ask:
                begun = await self._ring.ask(ask.run_id, ask.attempt_id)
                if begun is not None:
                    self._batch.go_on(group, begun)
                return True
            case Compact():
                await self._ring.compact()
                return True
            case RunCalls() as calls if self._batch.start(group, calls.item_ids):
                return True
            case Wait() as pause:
                await self._pause(pause)
                return True
            case Begin() as begin:
                await self._begin(begin)
                return True
            case End() as end:
                await self._end(end)
                return True
            case Capture() as capture:
                await self._capture(capture)
                return True
            case RunCalls() | Nothing():
                pass
        if not self._batch.running:
            return False
        await self._woken.wait()
        return True

    async def _join(self, border: Join) -> None:
        await record_patiently(
            self._actor, lambda state, at: steer.join_now(state, border.run_id, at), self._services.clock
        )

    async def _pause(self, pause: Wait) -> None:
        """Until the time has come, the person hurries or stops it, or the daemon is to end: the successor waits on."""
        run, clock = self._actor.state.runs[pause.run_id], self._services.clock
        left = min(seconds_between(clock.now(), pause.until), LONGEST_S)
        rung = left <= 0
        if not rung:
            if run.retry is not None:
                self._services.feed.phase(self._actor.id, run.retry.item_id, Phase.RETRYING)
            async with anyio.create_task_group() as group:

                async def ring() -> None:
                    nonlocal rung
                    await clock.sleep(left)
                    rung = True
                    group.cancel_scope.cancel()

                async def leave() -> None:
                    await self._services.drain.asked.wait()
                    group.cancel_scope.cancel()

                group.start_soon(ring)
                group.start_soon(leave)
                await self._woken.wait()
                group.cancel_scope.cancel()
        if rung and not self._services.drain.begun:
            await record_patiently(self._actor, partial(_over, waited=pause), clock)

    async def _begin(self, begin: Begin) -> None:
        """The attempt before has really ended by then: nothing of it is asked or runs any more."""
        await self._calls_over()
        by, said = await self._ring.take_said()
        await record_patiently(
            self._actor,
            lambda state, at: successor.begin(state, begin.attempt_id, said=said, by=by, at=at),
            self._services.clock,
        )
        await self._forget_partials()

    async def _end(self, end: End) -> None:
        notice = None if await self._calls_over() else NOT_OVER
        by, said = await self._ring.take_said()
        await record_patiently(
            self._actor,
            lambda state, at: step.end(state, end.run_id, end.outcome, said=said, by=by, notice=notice, at=at),
            self._services.clock,
        )
        await self._forget_partials()

    async def _calls_over(self) -> bool:
        """Ends what runs. False when something does not let itself be ended; nobody waits for it any longer."""
        self._batch.cancel()
        return await self._batch.ended(LOCAL_END_S)

    async def _capture(self, capture: Capture) -> None:
        captured = await self._services.checkpoints.capture(self._actor.id, capture.run_id)
        trouble = captured.message if captured.status is CaptureStatus.ERROR else ""
        await record_patiently(
            self._actor,
            lambda state, at: finalize.captured(state, capture.run_id, at, trouble=trouble),
            self._services.clock,
        )

    async def _forget_partials(self) -> None:
        if self._services.feed.clear_all(self._actor.id):
            drop = partial(self._services.ledger.drop_partials, self._actor.id)
            await patiently(drop, self._services.clock)

    async def _give_up(self, error: Exception) -> None:
        if self._services.supervisor.stopping:
            return
        notice = Notice(
            code="internal_error",
            message=f"agent-ls made a mistake and stopped this run ({type(error).__name__}).",
            hint="`agent-ls log` shows where; send the message again to go on.",
        )
        decide = partial(_fail, notice=notice)
        with suppress(Fenced):
            await record_patiently(self._actor, decide, self._services.clock)


def _over(state: ConversationState, at: str, *, waited: Wait) -> Decision | None:
    """Unless it was hurried, and another wait has begun since."""
    run = state.runs[waited.run_id]
    if run.retry is None or run.retry.until != waited.until or run.interrupt is not None:
        return None
    return wait.over(state, waited.run_id, at)


def _fail(state: ConversationState, at: str, *, notice: Notice) -> Decision | None:
    if state.active is None:
        wish = state.conversation.compacting
        return None if wish is None else compacting.give_up(state, notice, at, wish_id=wish.id)
    run_id = state.active.id
    if state.runs[run_id].status is RunStatus.FINALIZING:
        return finalize.captured(state, run_id, at, trouble=notice.message)
    return step.end(state, run_id, AttemptFact.FAILED, error=notice, at=at)
