"""Compaction at work: looks whether the next request fits, has the summary written, commits it.

Owns one compaction at a time of one conversation, that it can be stopped, and what follows when it is no use. The
numbers and the cut are core.compaction's, what is put in again core.carried's, the summary is summarizer.py's.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Final

import anyio

from agent_ls.core import carried, compacting, compaction, context, pictures, sizes
from agent_ls.core.attempt import Attempt, made_by
from agent_ls.core.compaction import Cut
from agent_ls.core.conversation import Compacting
from agent_ls.core.draft import Decision
from agent_ls.core.failure import Cause, Failure
from agent_ls.core.items import Compaction, Notice
from agent_ls.core.messages import ModelMessage
from agent_ls.core.overflow import is_overflow, still_too_large
from agent_ls.core.projection import ConversationState
from agent_ls.core.stream import Phase
from agent_ls.runtime.actor import Actor, Decide
from agent_ls.runtime.hook_calls import HookCalls
from agent_ls.runtime.patience import record_patiently
from agent_ls.runtime.requests import Made, Requests
from agent_ls.runtime.services import Services
from agent_ls.runtime.summarizer import Summarizer, Task, Written

NOTHING: Final = Notice(
    code="compaction_failed",
    message="Not compacted: there is nothing that could be taken out.",
    hint="It shortens what the agent has said and done so far.",
)


class Came(StrEnum):
    """What came of it. DONE and STOPPED are on record: whoever asked looks again at what is owed."""

    DONE = "done"
    STOPPED = "stopped"
    REFUSED = "refused"
    NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Why and how far. `tokens` is the size of the next request, `room` how much one for a summary may have."""

    trigger: str
    made_by: Made
    mode: str
    target: int
    tokens: int
    room: int | None
    attempt: Attempt | None = None
    wish: Compacting | None = None

    def still(self, state: ConversationState) -> bool:
        """Whether anybody waits for it."""
        if self.wish is not None and state.conversation.compacting != self.wish:
            return False
        return self.attempt is None or compaction.goes_on(state, self.attempt)


class Compactor:
    def __init__(self, actor: Actor, services: Services, requests: Requests, *, hooks: HookCalls) -> None:
        self._actor = actor
        self._services = services
        self._requests = requests
        self._summarizer = Summarizer(actor, services, requests)
        self._hooks = hooks
        self._asking: anyio.CancelScope | None = None
        self._wanted: Wanted | None = None
        self._refused: set[str] = set()

    def look(self) -> None:
        """Cancels what is in flight if nobody waits for it any more."""
        if self._asking is not None and self._wanted is not None and not self._wanted.still(self._actor.state):
            self._asking.cancel()

    async def make_room(self, attempt: Attempt) -> Came | Notice | None:
        """Before a request. None: it may be sent as it is; a notice: why it cannot be."""
        policy, who = self._services.compaction, made_by(self._actor.state.conversation, attempt)
        window = self._services.window(*who)
        if not policy.enabled or window is None or attempt.run_id in self._refused:
            return None
        size = await self.size(who)
        if size <= compaction.limit(window, policy):
            return None
        tried = self._tried(attempt, "limit")
        if tried >= compaction.TRIES:
            return await self._beyond(size, window, who)
        wanted = self._want("limit", who, size, attempt=attempt)
        came = await self._compact(wanted if not tried else replace(wanted, mode="all"))
        if came is Came.REFUSED:
            self._refused.add(attempt.run_id)
            return None
        return await self._beyond(size, window, who) if came is Came.NOTHING else came

    async def overflowed(self, attempt: Attempt, failure: Failure) -> Came | Notice | None:
        """After a server has called a request too large. None: it has not, or compaction is switched off."""
        who = made_by(self._actor.state.conversation, attempt)
        if await self._leave_out_pictures(attempt, failure, who):
            return Came.DONE
        if not self._services.compaction.enabled or failure.cause not in (Cause.OVERFLOW, Cause.INVALID):
            return None
        size = await self.size(who)
        if not is_overflow(failure, size=size, window=self._services.window(*who)):
            return None
        tried = self._tried(attempt, "overflow")
        if tried >= compaction.OVERFLOWS:
            return still_too_large(failure, size=size, tried=tried)
        wanted = self._want("overflow", who, size, attempt=attempt)
        # The server knows better than the estimate: each time less is kept, at last nothing but what has to be.
        small = min(wanted.target, size // 2) >> tried
        mode = "all" if tried == compaction.OVERFLOWS - 1 else wanted.mode
        came = await self._compact(replace(wanted, target=small, mode=mode))
        return still_too_large(failure, size=size, tried=tried) if came in (Came.NOTHING, Came.REFUSED) else came

    async def _leave_out_pictures(self, attempt: Attempt, failure: Failure, who: Made) -> bool:
        """The first that goes, where the bytes are too many and not the words."""
        if self._requests.without_pictures or failure.cause not in (Cause.OVERFLOW, Cause.NETWORK, Cause.CUT):
            return False
        sent, retries = await self._requests.whole(who, ""), self._actor.state.runs[attempt.run_id].retries
        if not pictures.are_to_blame(failure, sent.messages, retries=retries):
            return False
        self._requests.without_pictures = True
        return await self._record(lambda state, at: compacting.give_up(state, pictures.LEFT_OUT, at))

    async def wished(self) -> None:
        """What the person has asked for: done, or given up with the reason."""
        state = self._actor.state
        wish, attempt = state.conversation.compacting, None if state.active is None else state.attempt_of(state.active)
        if wish is None:
            return
        now = (state.conversation.provider, state.conversation.model)
        who = now if attempt is None else made_by(state.conversation, attempt)
        came = await self._compact(self._want("manual", who, await self.size(who), attempt=attempt, wish=wish))
        match came:
            case Came.DONE | Came.STOPPED:
                return
            case Came.NOTHING:
                notice: Notice | None = NOTHING
            case Came.REFUSED:
                notice = None  # it is said already
            case Notice():
                notice = came
        await self._record(lambda state, at: compacting.give_up(state, notice, at, wish_id=wish.id))

    async def size(self, who: Made) -> int:
        """Of the next request: as the provider counted, and an estimate of what came since."""
        state = self._actor.state
        found = sizes.anchor(state)
        if found is None:
            whole = await self._requests.whole(who, "")
            return sizes.of_request(whole.system, whole.tools, whole.messages)
        later = context.messages(sizes.since(state, found), provider=who[0], model=who[1])
        return found.tokens + sizes.of_messages(await self._requests.inflated(later[1:]))

    def _want(
        self, trigger: str, who: Made, size: int, *, attempt: Attempt | None, wish: Compacting | None = None
    ) -> Wanted:
        policy, window = self._services.compaction, self._services.window(*who)
        room = None if window is None else compaction.limit(window, policy)
        if trigger == "overflow":
            room = 3 * min(room or size, size) // 4
        return Wanted(
            trigger=trigger,
            made_by=who,
            mode=policy.mode,
            target=compaction.target(window, policy),
            tokens=size,
            room=room,
            attempt=attempt,
            wish=wish,
        )

    def _tried(self, attempt: Attempt, trigger: str) -> int:
        made = compaction.since_step(self._actor.state, attempt.run_id)
        return sum(1 for each in made if each.trigger == trigger)

    async def _beyond(self, size: int, window: int, who: Made) -> Notice | None:
        """It was shortened as far as it goes. An estimate stops nothing that may still fit."""
        if size <= window:
            return None
        request = await self._requests.request(who, "", ())
        fixed = sizes.of_fixed(request.system, request.tools)
        return compaction.cannot_fit(needed=size, fixed=fixed, window=window, model=who[1])

    async def _compact(self, wanted: Wanted) -> Came | Notice:
        state = self._actor.state
        found = compaction.atoms(state)
        weights = [sizes.of_messages(await self._built(wanted, atom.items)) for atom in found]
        cut = compaction.cut(found, weights, target=wanted.target, mode=wanted.mode, end=state.next_ord)
        if cut is None:
            return Came.NOTHING
        came: Came | Notice = Came.STOPPED
        shown = compaction.shown_as(state)
        with anyio.CancelScope() as scope:
            self._asking, self._wanted = scope, wanted
            try:
                self._services.feed.phase(self._actor.id, shown, Phase.COMPACTING)
                came = await self._carry_out(wanted, cut, shown)
            finally:
                self._asking = None
                self._services.feed.clear(self._actor.id, [shown])
        return came

    async def _carry_out(self, wanted: Wanted, cut: Cut, shown: str) -> Came | Notice:
        said = None if wanted.wish is None else wanted.wish.instructions
        told = {"trigger": wanted.trigger, "instructions": said, "tokens": wanted.tokens}
        asked = await self._hooks.before_compact(told, still=lambda: wanted.still(self._actor.state))
        if asked.refused is not None:
            message = f"Not compacted: your hook `pre_compact` refused: {asked.refused}"
            refusal = Notice(code="hook_refused", message=message)
            await self._record(lambda state, at: compacting.give_up(state, refusal, at))
            return Came.REFUSED
        task = Task(
            made_by=wanted.made_by,
            going=await self._going(wanted, cut),
            cut=cut,
            instructions="\n".join(filter(None, (said, asked.context))) or None,
            room=wanted.room,
            wanted=wanted.wish is not None,
            step_id=shown,
        )
        written = await self._summarizer.write(task)
        if isinstance(written, Notice):
            return written
        made = _made(self._actor.state, wanted, task, written=written)
        done = await self._record(partial(_commit, made=made, wanted=wanted))
        return Came.DONE if done else Came.STOPPED

    async def _going(self, wanted: Wanted, cut: Cut) -> tuple[ModelMessage, ...]:
        build = partial(context.messages, provider=wanted.made_by[0], model=wanted.made_by[1])
        return await self._requests.inflated(carried.going(self._actor.state, cut.kept_from, build))

    async def _built(self, wanted: Wanted, items: compaction.Items) -> tuple[ModelMessage, ...]:
        provider, model = wanted.made_by
        return await self._requests.inflated(context.messages(items, provider=provider, model=model))

    async def _record(self, decide: Decide) -> bool:
        return await record_patiently(self._actor, decide, self._services.clock)


def _made(state: ConversationState, wanted: Wanted, task: Task, *, written: Written) -> Compaction:
    kept_from = task.cut.kept_from
    made = Compaction(
        summary=written.text,
        summarized=0,
        kept_from=kept_from,
        made_by="model" if written.trouble is None else "digest",
        model=written.model,
        trigger=wanted.trigger,
        mode=task.cut.mode,
        instructions=task.instructions,
        carried=carried.text(state, kept_from),
        messages=carried.messages(state, kept_from),
        answered=state.active is None,
        tokens_before=wanted.tokens,
        trouble=written.trouble,
        usage=written.usage,
    )
    left = wanted.tokens - sizes.of_messages(task.going)
    return replace(made, tokens_after=max(0, left) + sizes.of_message(carried.opening(state, made)))


def _commit(state: ConversationState, at: str, *, made: Compaction, wanted: Wanted) -> Decision | None:
    wish_id = None if wanted.wish is None else wanted.wish.id
    return compaction.commit(state, made, attempt=wanted.attempt, wish_id=wish_id, at=at)
