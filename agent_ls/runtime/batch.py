"""Calls of a step, run under locks: reads at once, writes to one file in order, each with one truthful result.

Owns what is committed around a call (started, finished) and what a cancelled call leaves behind. Which calls may run
is core.owed; a call approved by a person runs only as it was shown.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from agent_ls.core import delegation, step
from agent_ls.core.call import CallFact, cause, is_given_up, not_begun
from agent_ls.core.draft import Decision
from agent_ls.core.items import CallState, Item, ResultStatus, ToolResult
from agent_ls.core.locks import Holder
from agent_ls.core.owed import ready
from agent_ls.core.projection import ConversationState
from agent_ls.core.rules import Ruling
from agent_ls.ports.tools import Invalid, Prepared, Tool, ToolContext, ToolEffect, delegates, spools
from agent_ls.runtime import equipment, guard
from agent_ls.runtime.actor import Actor
from agent_ls.runtime.begun import Begun
from agent_ls.runtime.hook_calls import HookCalls
from agent_ls.runtime.judging import judged
from agent_ls.runtime.patience import Fenced, patiently, record_patiently
from agent_ls.runtime.payloads import shrink_result, whole_input
from agent_ls.runtime.places import tool_context
from agent_ls.runtime.services import Services
from agent_ls.runtime.shells import TAKEN_OVER
from agent_ls.runtime.walls import Walls

LAST_WORDS_S: Final = 5.0
LATE_S: Final = 1.0
CONFIRMED: Final = 3
MAY_HAVE_HAD_EFFECTS: Final = "It had begun when {why}, and may have had effects."
DID_NOT_BEGIN: Final = "It was about to begin when {why}, and did not."


class Batch:
    def __init__(self, actor: Actor, services: Services, prepared: dict[str, Prepared]) -> None:
        self._actor = actor
        self._services = services
        self._prepared = prepared
        self._hooks = HookCalls(actor, services)
        self._walls = Walls(actor, services, self._hooks)
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._less = anyio.Event()

    @property
    def running(self) -> bool:
        return bool(self._scopes)

    def start(self, group: TaskGroup, item_ids: Sequence[str]) -> bool:
        """Starts those that do not run yet, in call order. False if all of them do."""
        fresh = [item_id for item_id in item_ids if item_id not in self._scopes]
        for item_id in fresh:
            self._scopes[item_id] = anyio.CancelScope()
            group.start_soon(self._run, item_id, name=f"call {item_id}")
        return bool(fresh)

    def go_on(self, group: TaskGroup, begun: Begun) -> None:
        """With a call whose start is on record already."""
        self._scopes[begun.item_id] = anyio.CancelScope()
        group.start_soon(self._go_on, begun, name=f"call {begun.item_id}")

    def cancel(self) -> None:
        for scope in self._scopes.values():
            scope.cancel()

    def cancel_stopped(self) -> None:
        """Those that the person wants to end, and the run to go on."""
        for item_id, scope in self._scopes.items():
            call = self._actor.state.items[item_id].call
            if call.stop is not None or is_given_up(call):
                scope.cancel()

    async def ended(self, at_most_s: float) -> bool:
        """Waits until nothing runs any more; False when the time was over before that."""
        if not self._scopes:
            return True
        async with anyio.create_task_group() as group:

            async def give_up() -> None:
                await self._services.clock.sleep(at_most_s)
                group.cancel_scope.cancel()

            group.start_soon(give_up)
            while self._scopes:
                self._less = anyio.Event()
                await self._less.wait()
            group.cancel_scope.cancel()
        return not self._scopes

    async def _run(self, item_id: str) -> None:
        try:
            with self._scopes[item_id]:
                await self._guarded(item_id)
        finally:
            self._is_over(item_id)

    async def _go_on(self, begun: Begun) -> None:
        item = self._actor.state.items[begun.item_id]
        scope = self._scopes[item.id]
        try:
            if scope.cancel_called:
                with anyio.move_on_after(LAST_WORDS_S, shield=True):
                    await self._finish(item.id, self._interrupted(item, DID_NOT_BEGIN))
                return
            tool = self._services.toolbox.tools[begun.prepared.tool]
            context = tool_context(self._actor.state, item.id, self._services)
            begun.decided = True
            with scope:
                await self._confirmed(item, begun.prepared, asked_at=begun.asked_at)
                await self._through(item, tool, begun.prepared, context=context)
        finally:
            begun.give_back()
            self._is_over(item.id)

    def _is_over(self, item_id: str) -> None:
        del self._scopes[item_id]
        self._less.set()
        self._actor.after_commit(self._actor)

    async def _guarded(self, item_id: str) -> None:
        item = self._actor.state.items[item_id]
        context = tool_context(self._actor.state, item_id, self._services)
        tool = await equipment.find_again(self._actor.state.conversation, item.call.tool, self._services)
        if tool is None:
            await self._not_run(item_id, f"The tool `{item.call.tool}` is not there any more.")
            return
        who = Holder(item.conversation_id, item.run_id, item_id)
        async with self._services.locks.hold(item.call.keys, who, since=self._services.clock.now()):
            await self._locked(item, tool, context)

    async def _locked(self, item: Item, tool: Tool, context: ToolContext) -> None:
        """Runs the call, if it still is what was allowed.

        One that stood in line when the daemon was told to end does not begin: it is still owed. So is one in conflict
        with an earlier call which has come to wait for the person meanwhile. The result is on record before the locks
        are given back: who comes next has to know what was written.
        """
        waits = self._services.drain.begun or not self._is_due(item)
        prepared = None if waits else await self._prepare(item, tool, context)
        if prepared is None:
            return
        if prepared.effect is not ToolEffect.READ and not await self._started(item, prepared):
            return
        await self._through(item, tool, prepared, context=context)

    def _is_due(self, item: Item) -> bool:
        """Calls run in their order, also where an earlier one is asked for when it has run (core.walls)."""
        state = self._actor.state
        attempt = state.attempts.get(item.attempt_id or "")
        if attempt is None or state.items[item.id].call.state is not CallState.APPROVED:
            return True
        calls = state.step_calls(attempt)
        return all(call.id != item.id for call in calls) or any(call.id == item.id for call in ready(calls))

    async def _through(self, item: Item, tool: Tool, prepared: Prepared, *, context: ToolContext) -> None:
        """From the start to the record of the result."""
        result: ToolResult | None = None
        try:
            result = await self._call(tool, prepared, context)
            if result is not None:
                result = _told_of(self._services.locks.taken_from(item.id), result)
                if cause(result) is not None:
                    held = await self._walls.hold(item, tool, context=context, result=result)
                    if held is None:
                        self._put_away(item.id)
                        return
                    result = held
                result = await self._hooks.after_call(item.call, result)
                await self._finish(item.id, result)
        except anyio.get_cancelled_exc_class():
            if prepared.effect is not ToolEffect.READ and not self._goes_on(prepared, item):
                # What has happened is written down, but not for ever: recovery can still say `unknown`.
                with anyio.move_on_after(LAST_WORDS_S, shield=True):
                    await self._finish(item.id, result or self._interrupted(item))
            raise

    async def _call(self, tool: Tool, prepared: Prepared, context: ToolContext) -> ToolResult | None:
        """None: its work goes on by itself, and the next daemon waits for it."""
        if delegates(tool):
            return await self._services.subagents.run(context.item_id, tool.wanted(prepared.input))
        result = await guard.run(tool, prepared, context)
        past_windows = prepared.effect is ToolEffect.SHELL or prepared.apart
        return self._with_unsaved(result, context) if past_windows else result

    def _goes_on(self, prepared: Prepared, item: Item) -> bool:
        """A subagent outlives the daemon: unless the person stops the run, its call has no result before its end."""
        given_up = delegation.given_up(self._actor.state, item.id) is not None
        return prepared.effect is ToolEffect.DELEGATE and not given_up

    def _with_unsaved(self, result: ToolResult, context: ToolContext) -> ToolResult:
        """A command or a search sees the disk, not what a window holds: the model has to know where they differ."""
        notes = "\n".join(f"[{note}]" for note in self._services.unsaved(context.root))
        if not notes:
            return result
        border = "\n" if result.output and not result.output.endswith("\n") else ""
        return replace(result, output=f"{result.output}{border}{notes}")

    async def _prepare(self, item: Item, tool: Tool, context: ToolContext) -> Prepared | None:
        """Looks again right before the start: what was shown is what runs.

        What a rule has just allowed and what waited for nobody was looked at a moment ago; reads and commands do not
        depend on what files hold.
        """
        fresh = self._prepared.pop(item.id, None)
        if fresh is None or item.call.decided_by != "rule" or not _as_seen(fresh):
            fetch = partial(whole_input, item.call, self._services.ledger.get_blob)
            given = await patiently(fetch, self._services.clock)
            looked = (
                Invalid("Its input is no longer there.") if given is None else await guard.look(tool, given, context)
            )
            if isinstance(looked, Invalid):
                await self._not_run(item.id, looked.message)
                return None
            fresh = looked
        if fresh.digest != item.call.digest:
            await self._not_run(
                item.id, "It changed after it was allowed, so it was not run. Read again and repeat it."
            )
            return None
        if why := await self._withdrawn(item, fresh):
            await self._not_run(item.id, why)
            return None
        return fresh

    async def _withdrawn(self, item: Item, fresh: Prepared) -> str | None:
        """Why it may not run any more: mode or rules may have changed while it waited for a person or for its turn."""
        if _as_seen(fresh) and item.call.walled is None:
            return None
        verdict = await judged(fresh, self._actor.state, self._services)
        if verdict.kind is Ruling.DENY:
            return f"It was allowed, and then came under another rule. {verdict.reason}"
        if item.call.decided_by == "rule" and verdict.kind is not Ruling.ALLOW:
            return f"What allowed it does not hold any more. {verdict.reason} Repeat it, and it is decided anew."
        return None

    async def _started(self, item: Item, prepared: Prepared) -> bool:
        record = await self._recorded(prepared)
        facts = {"before": prepared.before, "after": prepared.after, "record": record}

        def decide(state: ConversationState, at: str) -> Decision | None:
            if state.items[item.id].call.state is not CallState.APPROVED:
                return None
            return step.move_item(state, item.id, CallFact.STARTED, at=at, **facts)

        clock = self._services.clock
        asked_at = clock.monotonic()
        started = await record_patiently(self._actor, decide, clock)
        if started:
            await self._confirmed(item, prepared, asked_at=asked_at)
        return started

    async def _confirmed(self, item: Item, prepared: Prepared, *, asked_at: float) -> None:
        """Whoever stood still since the commit may have been taken over: no process is started on an old answer.

        Its start is on record: one that is stopped here has a result as well, else its run would wait for ever.
        """
        clock = self._services.clock
        try:
            for _ in range(CONFIRMED):
                if (now := clock.monotonic()) - asked_at < LATE_S:
                    return
                asked_at = now
                await patiently(self._actor.confirm, clock)
        except anyio.get_cancelled_exc_class():
            if not self._goes_on(prepared, item):
                with anyio.move_on_after(LAST_WORDS_S, shield=True):
                    await self._finish(item.id, self._interrupted(item, DID_NOT_BEGIN))
            raise

    async def _recorded(self, prepared: Prepared) -> str | None:
        """Kept before the change is made: a crash after it must not take from the person what they could undo."""
        if prepared.record is None:
            return None
        kept = await to_thread.run_sync(prepared.record)
        return await patiently(partial(self._services.ledger.put_blob, kept), self._services.clock)

    async def _finish(self, item_id: str, result: ToolResult) -> None:
        result = self._services.masking().result(result)
        kept = await patiently(partial(shrink_result, result, self._services.ledger.put_blob), self._services.clock)
        try:
            await record_patiently(
                self._actor, lambda state, at: step.finish_call(state, item_id, kept, at=at), self._services.clock
            )
        except Fenced:
            # Nobody would ever look after a shell that no ledger knows of.
            await self._services.shells.stop(item_id, TAKEN_OVER)
            raise
        self._put_away(item_id)

    def _put_away(self, item_id: str) -> None:
        """What was kept for the case that the daemon dies: by now it is on record."""
        self._services.feed.clear(self._actor.id, [item_id])
        tool: object = self._services.toolbox.get(self._actor.state.items[item_id].call.tool)
        if spools(tool):
            tool.forget(item_id, self._services.spool)

    async def _not_run(self, item_id: str, why: str) -> None:
        result = ToolResult(status=ResultStatus.ERROR, output=why)

        def decide(state: ConversationState, at: str) -> Decision | None:
            if state.items[item_id].call.state is not CallState.APPROVED:
                return None
            fact, told = not_begun(state.items[item_id].call, result)
            return step.move_item(state, item_id, fact, at=at, result=told)

        await record_patiently(self._actor, decide, self._services.clock)

    def _interrupted(self, item: Item, told: str = MAY_HAVE_HAD_EFFECTS) -> ToolResult:
        said = self._services.feed.said(self._actor.id, item.id)
        why = "the run was ended by a mistake of agent-ls"
        run = self._actor.state.runs[item.run_id]
        if run.interrupt is not None:
            why = "the person stopped the run"
        elif self._actor.state.items[item.id].call.stop is not None:
            why = "the person stopped it"
        elif run.active_attempt_id != item.attempt_id:
            why = "the person sent a message that changed what to do"
        elif self._services.drain.begun or self._services.supervisor.stopping:
            why = "the daemon was stopped"
        return ToolResult(status=ResultStatus.INTERRUPTED, output=f"{told.format(why=why)}\n{said}".strip())


def _told_of(taken: Sequence[str], result: ToolResult) -> ToolResult:
    """What a call did after a person took its lock may stand against what somebody else did meanwhile."""
    if not taken:
        return result
    said = f"[the person took {', '.join(taken)} over while this ran: look again before you rely on what it did]"
    return replace(result, output=f"{result.output.rstrip()}\n{said}".lstrip())


def _as_seen(prepared: Prepared) -> bool:
    return prepared.effect is ToolEffect.READ or (prepared.effect is ToolEffect.SHELL and not prepared.keys)
