"""Subagents at work: each call that hands work over has one child conversation, is shown how it stands, and waits.

Owns the start of a child (its id follows from its call, so it is started once however often that is tried), following
it, and stopping it. The child itself is a conversation like any other: its own driver runs it, and recovers it. Does
not own what is shown of it nor what its result is (core.delegation).
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import anyio

from agent_ls.core import delegation, dispatch, ids, interrupt
from agent_ls.core.agents import Agent
from agent_ls.core.conversation import Conversation, Delegated
from agent_ls.core.delegation import AT_ONCE, LEVELS, Wanted
from agent_ls.core.dispatch import Message
from agent_ls.core.draft import Decision
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import Event
from agent_ls.core.items import Block, ResultStatus, Subagent, ToolResult
from agent_ls.core.projection import ConversationState
from agent_ls.core.run import Interrupt, Run
from agent_ls.ports.ledger import LedgerError
from agent_ls.ports.tools import Invalid
from agent_ls.runtime.actor import Actor
from agent_ls.runtime.patience import patiently, record_patiently
from agent_ls.runtime.registry import Registry, creating
from agent_ls.runtime.slots import Slots
from agent_ls.runtime.spent import Spent

log = logging.getLogger(__name__)

STOP_S: Final = 10.0
# Of a child that another daemon has, nothing is heard: it is looked at.
LOOK_S: Final = 1.0


class Children:
    """Implements runtime.services.Subagents."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._services = registry.services
        self._slots = Slots(AT_ONCE)
        self._spent = Spent(registry.services)
        self._news: dict[str, anyio.Event] = {}
        self._waiting: dict[str, anyio.CancelScope] = {}
        self._services.feed.listeners.append(self._heard)

    async def watch(self) -> None:
        """For the life of the daemon: who waits for a subagent lets go when the daemon is told to end."""
        await self._services.drain.asked.wait()
        for news in self._news.values():
            news.set()
        for scope in self._waiting.values():
            scope.cancel()

    async def run(self, item_id: str, wanted: Wanted | Invalid) -> ToolResult | None:
        actor = self._registry.live(ids.conversation_of(item_id))
        if actor is None:
            return None
        if isinstance(wanted, Invalid):
            return _error(wanted.message)
        parent = actor.state.conversation
        if delegation.depth(parent) >= LEVELS:
            return _error(f"Subagents may stand {LEVELS} levels deep and no deeper. Do this part yourself.")
        agent = await self._agent(parent, wanted)
        if isinstance(agent, str):
            return _error(agent)
        child = delegation.child(parent, item_id, wanted, agent=agent, at=self._services.clock.now())
        try:
            return await self._wait_in_line(actor, item_id, wanted, child=child)
        except anyio.get_cancelled_exc_class():
            stop = delegation.given_up(actor.state, item_id)
            if stop is not None:
                with anyio.CancelScope(shield=True):
                    await self.stop(item_id, stop)
            raise

    async def stop(self, item_id: str, stop: Interrupt) -> None:
        """Deepest first: a child ends when its own children have ended. One that does not is not waited for long."""
        child_id = ids.subagent_conversation(item_id)
        with anyio.move_on_after(STOP_S):
            try:
                await self._stop(child_id, stop)
            except LedgerError as error:
                log.warning("a subagent could not be stopped: %s", error.refusal.code)

    def leave_line(self, item_id: str) -> bool:
        """Stops one that has not begun; False where it has."""
        scope = self._waiting.get(item_id)
        if scope is not None:
            scope.cancel()
        return scope is not None

    async def above(self, delegated: Delegated) -> Sequence[Conversation]:
        find = self._registry.conversation
        found = [await patiently(partial(find, known), self._services.clock) for known in delegated.ancestors]
        return [one for one in found if isinstance(one, Conversation)]

    def above_here(self, delegated: Delegated) -> Sequence[Conversation]:
        found = (self._registry.live(known) for known in delegated.ancestors)
        return [actor.state.conversation for actor in found if actor is not None]

    async def topmost(self, delegated: Delegated) -> ConversationState | None:
        known = delegated.ancestors[0]
        actor = self._registry.live(known)
        state = (
            actor.state
            if actor is not None
            else await patiently(partial(self._registry.state, known), self._services.clock)
        )
        return None if isinstance(state, Refusal) else state

    def known(self, conversation_id: str) -> ConversationState | None:
        actor = self._registry.live(conversation_id)
        return None if actor is None else actor.state

    async def _agent(self, parent: Conversation, wanted: Wanted) -> Agent | str | None:
        if wanted.agent is None:
            return None
        known = await self._services.agents(parent)
        found = known.get(wanted.agent)
        names = ", ".join(sorted(known)) or "none"
        return f"There is no agent `{wanted.agent}`; known are: {names}." if found is None else found

    async def _wait_in_line(
        self, actor: Actor, item_id: str, wanted: Wanted, *, child: Conversation
    ) -> ToolResult | None:
        root, parent = delegation.root(actor.state.conversation), actor.id
        begun = await patiently(partial(self._services.ledger.head, child.id), self._services.clock) is not None
        if not begun and self._slots.would_wait(root, parent):
            call_id = actor.state.items[item_id].call.call_id
            await self._show(actor, item_id, delegation.waits(child.id, wanted, call_id=call_id))
        with anyio.CancelScope() as scope:
            self._waiting[item_id] = scope
            try:
                async with self._slots.place(root, parent, child.id, at_once=begun):
                    del self._waiting[item_id]
                    return await self._work(actor, item_id, wanted, child=child)
            finally:
                self._waiting.pop(item_id, None)
        if self._services.drain.begun:
            return None
        return ToolResult(status=ResultStatus.INTERRUPTED, output="The person stopped this before it began.")

    async def _work(self, actor: Actor, item_id: str, wanted: Wanted, *, child: Conversation) -> ToolResult | None:
        # Whatever was asked for in one answer of a model: what no run has room for is not even begun.
        if (full := await self._spent.full(actor.state, actor.state.items[item_id].run_id)) is not None:
            return _error(f"The subagent was not started. {full}")
        refused = None if self._services.drain.begun else await self._begin(child, item_id, wanted)
        if refused is not None:
            return _error(f"The subagent could not be started: {refused.message}")
        call_id = actor.state.items[item_id].call.call_id
        while not self._services.drain.begun:
            news = self._news[child.id] = anyio.Event()
            try:
                state = await patiently(partial(self._registry.state, child.id), self._services.clock)
                if isinstance(state, Refusal):
                    return _error(f"The subagent is gone: {state.message}")
                await self._show(actor, item_id, delegation.progress(state, call_id=call_id))
                if (result := delegation.outcome(state)) is not None:
                    return result
                with anyio.move_on_after(LOOK_S):
                    await news.wait()
            finally:
                self._news.pop(child.id, None)
        return None

    async def _begin(self, child: Conversation, item_id: str, wanted: Wanted) -> Refusal | None:
        """Made and told what to do, once: both commands are known by the call."""
        begin = partial(self._registry.begin, f"task {item_id}", child.id, creating(child))
        made = await patiently(begin, self._services.clock)
        if isinstance(made, Refusal) and made.code is not Code.COMMAND_CONFLICT:
            there = await patiently(partial(self._services.ledger.head, child.id), self._services.clock)
            return made if there is None else None
        actor = await patiently(partial(self._registry.actor, child.id), self._services.clock)
        if isinstance(actor, Refusal):
            # Another daemon has taken it over, with whatever it owes.
            return None
        message = Message(content=(Block(type="text", text=wanted.prompt),))
        said = await actor.command(f"prompt {item_id}", lambda state, at: dispatch.send(state, message, at))
        return said if isinstance(said, Refusal) else None

    async def _show(self, actor: Actor, item_id: str, shown: Subagent) -> None:
        decide = partial(delegation.note, item_id=item_id, shown=shown)
        await record_patiently(actor, decide, self._services.clock)

    async def _stop(self, child_id: str, stop: Interrupt) -> None:
        actor = await self._registry.actor(child_id)
        if isinstance(actor, Refusal):
            await self._stop_elsewhere(child_id, stop)
            return
        run = delegation.first_run(actor.state)
        if run is None or run.ended:
            return
        noted = await actor.command(f"stop {run.id} {stop.at}", partial(_interrupt, run_id=run.id, stop=stop))
        if isinstance(noted, Refusal):
            # Taken over a moment ago, which this daemon has not seen before.
            await self._stop_elsewhere(child_id, stop)
            return
        try:
            while not actor.state.runs[run.id].ended:
                news = self._news[child_id] = anyio.Event()
                await news.wait()
        finally:
            self._news.pop(child_id, None)

    async def _stop_elsewhere(self, child_id: str, stop: Interrupt) -> None:
        """Another daemon has it: it is told through the ledger, and its end is looked for there."""
        state = await self._registry.state(child_id)
        run = None if isinstance(state, Refusal) else delegation.first_run(state)
        if run is None or run.ended:
            return
        await self._services.stop_elsewhere(child_id, run.id, stop)
        while not isinstance(state, Refusal) and not state.runs[run.id].ended:
            await self._services.clock.sleep(LOOK_S / 4)
            state = await self._registry.state(child_id)

    def _heard(self, conversation_id: str, events: Sequence[Event]) -> None:
        news = self._news.get(conversation_id)
        if news is not None:
            news.set()
        for event in events:
            if isinstance(event.entity, Run) and event.entity.ended and event.entity.interrupt is not None:
                self._orphaned(event.entity, event.entity.interrupt)

    def _orphaned(self, run: Run, stop: Interrupt) -> None:
        """A run that was ended without its subagents (while nobody waited for them) leaves none behind."""
        actor = self._registry.live(run.conversation_id)
        if actor is None:
            return
        for item in actor.state.items_of(run.id):
            if isinstance(item.payload, Subagent) and item.parent_id is not None:
                work = partial(self.stop, item.parent_id, stop)
                self._services.supervisor.start(f"stop of {item.payload.conversation_id}", work)


def _interrupt(state: ConversationState, at: str, *, run_id: str, stop: Interrupt) -> Decision | Refusal:
    return interrupt.interrupt(state, run_id, replace(stop, at=at, hold_queue=True))


def _error(text: str) -> ToolResult:
    return ToolResult(status=ResultStatus.ERROR, output=text)
