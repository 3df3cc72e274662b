"""One step of our own loop: send what there is, show frames as they come, judge the calls, commit the reply.

Owns the request to the model while it is in flight. Does not own the loop around it (driver.py), running calls
(batch.py) nor any wire.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final, TypeVar

import anyio

from agent_ls.core import context, ids, step
from agent_ls.core.attempt import Attempt, AttemptFact
from agent_ls.core.draft import Decision
from agent_ls.core.errors import HINTS, Code
from agent_ls.core.items import CallState, Notice
from agent_ls.core.messages import ModelMessage, Reply, TextPart
from agent_ls.core.projection import ConversationState
from agent_ls.core.prompt import system_prompt
from agent_ls.ports.provider import CallFrame, Cause, Failure, Frame, Model, ModelRequest, TextFrame
from agent_ls.ports.tools import Prepared
from agent_ls.runtime import equipment
from agent_ls.runtime.actor import Actor, Decide
from agent_ls.runtime.begun import Begun, EarlyStart
from agent_ls.runtime.early import EarlyReads
from agent_ls.runtime.patience import patiently, record_patiently
from agent_ls.runtime.payloads import Inflater, Keep, shrink_reply, shrink_text
from agent_ls.runtime.services import Services
from agent_ls.runtime.triage import Triager

CODES: Final[Mapping[Cause, Code]] = {
    Cause.UNAUTHORIZED: Code.UNAUTHORIZED,
    Cause.NO_CREDIT: Code.UNAUTHORIZED,
    Cause.RATE_LIMITED: Code.RATE_LIMITED,
    Cause.OVERLOADED: Code.RATE_LIMITED,
    Cause.NOT_FOUND: Code.PROVIDER_UNAVAILABLE,
    Cause.OVERFLOW: Code.CONTEXT_OVERFLOW,
}

# Where the sentence says already what the hint would: (what it says, what remains to be said).
_SAID: Final[Mapping[Code, tuple[str, str]]] = {
    Code.UNAUTHORIZED: ("`agent-ls doctor`", "Correct it, run `agent-ls restart`, and send the message again."),
    Code.PROVIDER_ERROR: ("Send the message again", "`agent-ls log` has the details."),
}

T = TypeVar("T")


class Ring:
    def __init__(self, actor: Actor, services: Services) -> None:
        self._actor = actor
        self._services = services
        self._triager = Triager(actor, services)
        self._asking: anyio.CancelScope | None = None
        self._said: dict[int, list[str]] = {}
        self._history = History()
        self._inflater = Inflater(services.ledger.get_blob)
        self._early = EarlyReads(actor, services, self._triager.prepared)
        self._starts = EarlyStart(actor, services, self._triager.prepared)

    @property
    def prepared(self) -> dict[str, Prepared]:
        """Calls of the newest reply as they were prepared for triage, by item id."""
        return self._triager.prepared

    def stop_asking(self) -> None:
        """Cancels the request in flight, if there is one."""
        if self._asking is not None:
            self._asking.cancel()

    async def take_said(self) -> list[tuple[int, TextPart]]:
        """Text of a step that ended before its reply did, by part."""
        said = await self._spoken()
        self._said = {}
        return said

    async def _spoken(self) -> list[tuple[int, TextPart]]:
        texts = [(part, "".join(chunks)) for part, chunks in sorted(self._said.items())]
        return [(part, await self._patiently(partial(shrink_text, text))) for part, text in texts]

    async def _patiently(self, shrink: Callable[[Keep], Awaitable[T]]) -> T:
        """What has been said is not lost because the disk is full just now."""
        return await patiently(partial(shrink, self._services.ledger.put_blob), self._services.clock)

    async def ask(self, run_id: str, attempt_id: str) -> Begun | None:
        """Asks the model once. The reply, the failure or the interruption is committed, unless a stop was noted.

        The result is a call that has begun with that commit, and that is now the batch's to run.
        """
        attempt = self._actor.state.attempts[attempt_id]
        if (over := self._over_limit(attempt)) is not None:
            await self._fail(run_id, over)
            return None
        if (refused := await self._triager.hooks.begin_session(attempt)) is not None:
            await self._fail(run_id, refused)
            return None
        model = self._services.models(self._actor.state.conversation.provider)
        if isinstance(model, Failure):
            await self._fail(run_id, notice_of(model))
            return None
        reply = await self._call(model, attempt)
        if reply is None:
            return None
        if isinstance(reply, Failure):
            await self._fail(run_id, notice_of(reply))
            return None
        return await self._take(attempt, reply)

    async def _call(self, model: Model, attempt: Attempt) -> Reply | Failure | None:
        """None when the request was cancelled because a stop was noted."""
        self._said = {}
        request = await self._request(attempt)
        with anyio.CancelScope() as scope:
            self._asking = scope
            try:
                return await model.call(request, partial(self._show, attempt.step_id))
            finally:
                self._asking = None
        return None

    def _show(self, step_id: str, frame: Frame) -> None:
        item_id = ids.part_id(step_id, frame.part)
        if isinstance(frame, CallFrame):
            return
        phase = "thinking"
        if isinstance(frame, TextFrame):
            phase = "answering"
            self._said.setdefault(frame.part, []).append(frame.delta)
        self._services.feed.text(self._actor.id, item_id, frame.delta, phase=phase)

    async def _take(self, attempt: Attempt, reply: Reply) -> Begun | None:
        if not reply.parts:
            empty = Failure(
                Cause.EMPTY, "The model gave an empty answer. Send the message again, or use another model."
            )
            await self._fail(attempt.run_id, notice_of(empty))
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

    async def _fail(self, run_id: str, error: Notice) -> None:
        said = await self._spoken()

        def decide(state: ConversationState, at: str) -> Decision | None:
            if state.runs[run_id].interrupt is not None:
                return None
            return step.end(state, run_id, AttemptFact.FAILED, said=said, error=error, at=at)

        await self._record(decide)

    async def _record(self, decide: Decide) -> None:
        """The step is over: what was in flight is committed, or kept by the stop that came first."""
        if await record_patiently(self._actor, decide, self._services.clock):
            self._said = {}
        if self._services.feed.clear_all(self._actor.id):
            drop = partial(self._services.ledger.drop_partials, self._actor.id)
            await patiently(drop, self._services.clock)

    async def _request(self, attempt: Attempt) -> ModelRequest:
        state = self._actor.state
        conversation = state.conversation
        date = self._services.clock.now()[:10]
        inflate = partial(self._inflater.inflate, self._history.messages(state))
        return ModelRequest(
            model=conversation.model,
            system=system_prompt(
                root=state.root,
                platform=self._services.platform,
                date=date,
                more=[*equipment.instructions(conversation), *self._triager.hooks.said],
            ),
            messages=await patiently(inflate, self._services.clock),
            tools=await equipment.specs(conversation, self._services),
            step_id=attempt.step_id,
            cache_key=conversation.id,
        )

    def _over_limit(self, attempt: Attempt) -> Notice | None:
        limits = self._services.limits
        if attempt.steps >= limits.steps_per_run:
            return _limit(f"This run took {attempt.steps} steps, which is the limit (`limits.steps_per_run`).")
        started = self._actor.state.runs[attempt.run_id].started_at
        if started is not None and _minutes(started, self._services.clock.now()) >= limits.minutes_per_run:
            return _limit(f"This run took {limits.minutes_per_run} minutes, the limit (`limits.minutes_per_run`).")
        return None


class History:
    """Messages of ended runs are made once: what is there does not change any more (for one provider and model)."""

    def __init__(self) -> None:
        self._key: tuple[str, str] | None = None
        self._ended: dict[str, tuple[int, tuple[ModelMessage, ...]]] = {}

    def messages(self, state: ConversationState) -> tuple[ModelMessage, ...]:
        provider, model = state.conversation.provider, state.conversation.model
        if self._key != (provider, model):
            self._key, self._ended = (provider, model), {}
        built: list[Sequence[ModelMessage]] = []
        for run_id, items in state.run_items.items():
            size, known = self._ended.get(run_id, (0, ()))
            # The end of a background shell may still come to a run that has ended.
            if size != len(items):
                known = context.messages(state.items_of(run_id), provider=provider, model=model)
                if state.runs[run_id].ended:
                    self._ended[run_id] = (len(items), known)
            built.append(known)
        return context.join(built)


def notice_of(failure: Failure) -> Notice:
    code = CODES.get(failure.cause, Code.PROVIDER_ERROR)
    message = f"{failure.message} ({failure.detail})" if failure.detail else failure.message
    said, otherwise = _SAID.get(code, ("", ""))
    return Notice(code=str(code), message=message, hint=otherwise if said and said in message else HINTS[code])


def _limit(message: str) -> Notice:
    return Notice(code="limit_reached", message=message, hint="Send `go on` to let it work further.")


def _minutes(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() / 60
