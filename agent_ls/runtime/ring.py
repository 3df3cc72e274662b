"""One step of our own loop: send what there is, show frames as they come, judge the calls, commit the reply.

Owns the request to the model while it is in flight. Does not own the loop around it (driver.py), running calls
(batch.py) nor any wire.
"""

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

import anyio

from agent_ls.core import ids, retry, step, wait
from agent_ls.core.attempt import Attempt, AttemptFact, made_by
from agent_ls.core.draft import Decision
from agent_ls.core.items import CallState, Notice
from agent_ls.core.messages import Reply, TextPart
from agent_ls.core.partial import Said
from agent_ls.core.projection import ConversationState
from agent_ls.core.run import Run
from agent_ls.core.stream import Phase
from agent_ls.ports.provider import CallFrame, Cause, Failure, Frame, Model, TextFrame
from agent_ls.ports.tools import Prepared
from agent_ls.runtime.actor import Actor, Decide
from agent_ls.runtime.begun import Begun, EarlyStart
from agent_ls.runtime.compactor import Compactor
from agent_ls.runtime.early import EarlyReads
from agent_ls.runtime.patience import patiently, record_patiently
from agent_ls.runtime.payloads import Keep, shrink_reply, shrink_text
from agent_ls.runtime.requests import Requests
from agent_ls.runtime.services import Services
from agent_ls.runtime.spent import Spent
from agent_ls.runtime.told import again, notice_of
from agent_ls.runtime.triage import Triager

EMPTY: Final = "The model gave an empty answer. Send the message again, or use another model."

T = TypeVar("T")


class Ring:
    def __init__(self, actor: Actor, services: Services) -> None:
        self._actor = actor
        self._services = services
        self._triager = Triager(actor, services)
        self._asking: anyio.CancelScope | None = None
        self._asked: Attempt | None = None
        self._seen = False
        self._said: dict[int, list[str]] = {}
        self._requests = Requests(actor, services, self._triager.hooks)
        self._compactor = Compactor(actor, services, self._requests, hooks=self._triager.hooks)
        self._spent = Spent(services)
        self._early = EarlyReads(actor, services, self._triager.prepared)
        self._starts = EarlyStart(actor, services, self._triager.prepared)

    @property
    def prepared(self) -> dict[str, Prepared]:
        """Calls of the newest reply as they were prepared for triage, by item id."""
        return self._triager.prepared

    def look(self, run: Run | None) -> None:
        """Cancels the request in flight if its answer is not wanted any more."""
        self._compactor.look()
        if self._asking is None or self._asked is None:
            return
        if run is None or run.interrupt is not None or run.active_attempt_id != self._asked.id:
            self._asking.cancel()

    async def take_said(self) -> tuple[Attempt | None, Said]:
        """Text of a step that ended before its reply did, by part, and the attempt that was to give it."""
        said = await self._spoken()
        self._said = {}
        return self._asked, said

    async def _spoken(self) -> list[tuple[int, TextPart]]:
        texts = [(part, "".join(chunks)) for part, chunks in sorted(self._said.items())]
        return [(part, await self._patiently(partial(shrink_text, text))) for part, text in texts]

    async def _patiently(self, shrink: Callable[[Keep], Awaitable[T]]) -> T:
        """What has been said is not lost because the disk is full just now."""
        return await patiently(partial(shrink, self._services.ledger.put_blob), self._services.clock)

    async def ask(self, run_id: str, attempt_id: str) -> Begun | None:
        """Asks the model once. The reply, the failure or the wait after it is committed, unless a stop was noted.

        The result is a call that has begun with that commit, and that is now the batch's to run.
        """
        state = self._actor.state
        attempt = state.attempts[attempt_id]
        refused = step.repeated_failure(state.items_of(run_id)) or await self._spent.over_limit(state, attempt)
        refused = refused or await self._triager.hooks.begin_session(attempt)
        if refused is not None:
            await self._fail(attempt, refused)
            return None
        model = self._services.models(made_by(state.conversation, attempt)[0])
        if isinstance(model, Failure):
            await self._fail(attempt, notice_of(model))
            return None
        made_room = await self._compactor.make_room(attempt)
        if isinstance(made_room, Notice):
            await self._fail(attempt, made_room)
        if made_room is not None:
            return None
        reply = await self._call(model, attempt)
        if isinstance(reply, Failure):
            await self._failed(attempt, reply)
            return None
        return None if reply is None else await self._take(attempt, reply)

    async def compact(self) -> None:
        """What the person has asked for."""
        await self._compactor.wished()

    async def _call(self, model: Model, attempt: Attempt) -> Reply | Failure | None:
        """None when the request was cancelled because a stop was noted."""
        self._said, self._seen, self._asked = {}, False, attempt
        request = await self._requests.whole(made_by(self._actor.state.conversation, attempt), attempt.step_id)
        with anyio.CancelScope() as scope:
            self._asking = scope
            try:
                return await model.call(request, partial(self._show, attempt.step_id))
            finally:
                self._asking = None
        return None

    def _show(self, step_id: str, frame: Frame) -> None:
        self._seen = True
        item_id = ids.part_id(step_id, frame.part)
        if isinstance(frame, CallFrame):
            return
        phase = Phase.THINKING
        if isinstance(frame, TextFrame):
            phase = Phase.ANSWERING
            self._said.setdefault(frame.part, []).append(frame.delta)
        self._services.feed.text(self._actor.id, item_id, frame.delta, phase=phase)

    async def _take(self, attempt: Attempt, reply: Reply) -> Begun | None:
        if not reply.parts:
            await self._failed(attempt, Failure(Cause.EMPTY, EMPTY))
            return None
        judged_in = self._actor.state.conversation
        triage = await self._early.run(attempt, await self._triager.judge(attempt, reply))
        if not triage:
            await self._triager.hooks.before_end(attempt, reply)
        kept = await self._patiently(partial(shrink_reply, reply))
        begun = self._starts.seize(attempt, triage)

        def decide(state: ConversationState, at: str) -> Decision | None:
            run = state.runs[attempt.run_id]
            if run.interrupt is not None or run.ended:
                return None
            # Judged for a mode that is not that of the conversation any more: the batch looks once more.
            begins = begun is not None and state.conversation is judged_in
            judged = [replace(triage[0], begins=True)] if begins else triage
            return step.take_reply(state, attempt, kept, triage=judged, at=at)

        with ExitStack() as held:
            if begun is not None:
                held.callback(begun.give_back)
            await self._record(decide)
            if begun is not None and self._has_begun(begun):
                held.pop_all()
                return begun
        return None

    def _has_begun(self, begun: Begun) -> bool:
        item = self._actor.state.items.get(begun.item_id)
        return item is not None and item.call.state is CallState.STARTED

    async def _failed(self, attempt: Attempt, failure: Failure) -> None:
        """Notes the wait before it is asked again, where that is worth it; else the run ends with the reason.

        What the server calls too large is shortened, and then sent again.
        """
        shortened = await self._compactor.overflowed(attempt, failure)
        if isinstance(shortened, Notice):
            await self._fail(attempt, shortened)
        if shortened is not None:
            return
        retries = self._actor.state.runs[attempt.run_id].retries
        decided = retry.plan(
            failure,
            retries=wait.used(self._actor.state, attempt.run_id),
            most=self._services.limits.retries_per_run,
            made=retries,
            jitter=self._services.chance(),
            now=self._services.clock.now(),
        )
        if isinstance(decided, retry.Never):
            await self._fail(attempt, notice_of(failure, tried=retries, back_s=decided.back_s))
            return
        said = await self._spoken()
        trouble = wait.Trouble(plan=decided, message=again(failure, decided), shown=self._seen)
        await self._record(lambda state, at: wait.note(state, attempt, trouble, said=said, at=at))

    async def _fail(self, attempt: Attempt, error: Notice) -> None:
        said = await self._spoken()

        def decide(state: ConversationState, at: str) -> Decision | None:
            run = state.runs[attempt.run_id]
            if run.interrupt is not None or run.active_attempt_id != attempt.id:
                return None
            return step.end(state, run.id, AttemptFact.FAILED, said=said, by=attempt, error=error, at=at)

        await self._record(decide)

    async def _record(self, decide: Decide) -> None:
        """The step is over: what was in flight is committed, or kept by the stop that came first."""
        if await record_patiently(self._actor, decide, self._services.clock):
            self._said = {}
        if self._services.feed.clear_all(self._actor.id):
            drop = partial(self._services.ledger.drop_partials, self._actor.id)
            await patiently(drop, self._services.clock)
