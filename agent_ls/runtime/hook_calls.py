"""The moments of a conversation at which hooks of the person are asked, and what follows from what they say.

Owns what each is told, that a stop of the person does not wait for one, and that a hook that fails is shown and
changes nothing. Does not own the programs (ports.hooks) nor what their end means (core.hooks).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

import anyio

from agent_ls.core.attempt import Attempt
from agent_ls.core.compacting import say
from agent_ls.core.conversation import Conversation
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.hooks import NOTHING, HookAnswer, HookEvent
from agent_ls.core.items import Block, Call, Notice, ToolResult
from agent_ls.core.messages import Reply, TextPart
from agent_ls.core.projection import ConversationState
from agent_ls.core.run import Steer
from agent_ls.core.steer import can_steer, steer
from agent_ls.core.step import Triage, TriageVerdict
from agent_ls.core.uris import path_of
from agent_ls.runtime.actor import Actor
from agent_ls.runtime.patience import record_patiently
from agent_ls.runtime.services import Services

LOOK_S: Final = 0.05
FAREWELL_S: Final = 5.0
OBJECTIONS: Final = 3
"""How often a `stop` hook may keep one run from ending."""


async def ask(
    services: Services, conversation: Conversation, event: HookEvent, *, said: Mapping[str, Any]
) -> HookAnswer:
    """A hook that belongs to no run, or to none yet."""
    if not services.hooks.has(event):
        return NOTHING
    root = path_of(conversation.workspace) or "/"
    payload = {"event": str(event), **about(conversation), **said}
    answer = await services.hooks.run(event, payload, cwd=root, environment=services.environment(root))
    return _masked(answer, services.masking().text)


def _masked(answer: HookAnswer, hide: Callable[[str], str]) -> HookAnswer:
    """A hook has the environment of its window, and its words are kept."""
    refused, context, trouble = (text and hide(text) for text in (answer.refused, answer.context, answer.trouble))
    return replace(answer, refused=refused, context=context, trouble=trouble)


async def end_sessions(services: Services) -> None:
    """When the daemon ends and none follows it. Nobody waits for them long."""
    ended, hooked = dict(services.sessions), services.hooks.has(HookEvent.SESSION_END)
    services.sessions.clear()
    if hooked:
        with anyio.move_on_after(FAREWELL_S):
            async with anyio.create_task_group() as group:
                for conversation in ended.values():
                    told = partial(ask, said={"reason": "shutdown"})
                    group.start_soon(told, services, conversation, HookEvent.SESSION_END)


def about(conversation: Conversation) -> dict[str, Any]:
    """What every hook is told of the conversation."""
    told: dict[str, Any] = {
        "conversationId": conversation.id,
        "workspace": conversation.workspace,
        "title": conversation.title,
        "mode": str(conversation.mode),
        "provider": conversation.provider,
        "model": conversation.model,
    }
    return told if conversation.delegated is None else {**told, "parentId": conversation.parent_id}


def note(state: ConversationState, at: str, *, text: str) -> Decision | None:
    """A hook that failed, shown in the run that goes on, or the newest one while the conversation is compacted."""
    if state.active is None and state.conversation.compacting is None:
        return None
    draft = Draft(state, at)
    say(draft, Notice(code="hook_failed", message=text, hint="Hooks stand under [hooks] in your config.toml."))
    return draft.done()


class HookCalls:
    """`said` is what `session_start` adds to the instructions, for as long as this daemon has the conversation."""

    def __init__(self, actor: Actor, services: Services) -> None:
        self._actor = actor
        self._services = services
        self._begun = False
        self._objections: dict[str, int] = {}
        self.said: tuple[str, ...] = ()

    async def begin_session(self, attempt: Attempt) -> Notice | None:
        """Before the first step here; why the run must not go on, if so."""
        conversation = self._actor.state.conversation
        if self._begun or conversation.delegated is not None:
            return None
        fresh = len(self._actor.state.runs) == 1 and not attempt.steps
        answer = await self._ask(HookEvent.SESSION_START, {"source": "new" if fresh else "resume"})
        if answer.refused is not None:
            message = f"Your hook `session_start` refused: {answer.refused}"
            return Notice(code="hook_refused", message=message, hint="Send the message again once it agrees.")
        self._begun = True
        if self._services.hooks.has(HookEvent.SESSION_END):
            self._services.sessions[conversation.id] = conversation
        self.said = (answer.context,) if answer.context else ()
        return None

    async def before_call(self, tool: str, given: dict[str, Any]) -> dict[str, Any] | str:
        """The input to go on with, or why the call is refused."""
        answer = await self._ask(HookEvent.PRE_TOOL, {"tool": tool, "input": given})
        if answer.refused is not None:
            return answer.refused
        return given if answer.input is None else answer.input

    async def before_request(self, entry: Triage) -> Triage:
        """A hook may say no in the person's place, never yes."""
        if entry.verdict is not TriageVerdict.ASK or not self._services.hooks.has(HookEvent.REQUEST):
            return entry
        kind = "question" if entry.questions else "approval" if entry.plan is None else "plan"
        refused = await self.against(entry.call, entry.title, kind)
        if refused is None:
            return entry
        verdict, rule = TriageVerdict.DENY, "hook request"
        return replace(entry, verdict=verdict, rule=rule, text=refused, questions=(), plan=None)

    async def against(self, call: Call, title: str, kind: str = "approval") -> str | None:
        """What a hook has against asking the person this."""
        said = {"tool": call.tool, "input": call.input, "title": title, "kind": kind}
        return (await self._ask(HookEvent.REQUEST, said)).refused

    async def after_call(self, call: Call, result: ToolResult) -> ToolResult:
        """The result, with what the hook has to add for the model."""
        if not self._services.hooks.has(HookEvent.POST_TOOL):
            return result
        result = self._services.masking().result(result)
        told = {"status": str(result.status), "output": result.output, "exitCode": result.exit_code}
        answer = await self._ask(HookEvent.POST_TOOL, {"tool": call.tool, "input": call.input, "result": told})
        added = [f"[hook post_tool: {answer.context}]"] if answer.context else []
        if answer.refused is not None:
            added.append(f"[hook post_tool objects: {answer.refused}]")
        if not added:
            return result
        return replace(result, output="\n".join([result.output.rstrip("\n"), *added]).lstrip("\n"))

    async def before_end(self, attempt: Attempt, reply: Reply) -> None:
        """The run is about to end by itself; who objects lets it go on with the reason."""
        sub = self._actor.state.conversation.delegated is not None
        event = HookEvent.SUBAGENT_STOP if sub else HookEvent.STOP
        objections = self._objections.get(attempt.run_id, 0)
        if not self._services.hooks.has(event):
            return
        text = "\n".join(part.text for part in reply.parts if isinstance(part, TextPart))
        answer = await self._ask(event, {"runId": attempt.run_id, "text": text, "objections": objections})
        if answer.refused is None:
            return
        if objections >= OBJECTIONS:
            await self._show(f"The hook `{event}` objected {objections} times; the run ends all the same.")
            return
        self._objections[attempt.run_id] = objections + 1
        said = f"A hook of the person does not let this end yet: {answer.refused}"
        decide = partial(_go_on, run_id=attempt.run_id, text=said)
        await record_patiently(self._actor, decide, self._services.clock)

    async def before_compact(self, said: Mapping[str, Any], *, still: Callable[[], bool]) -> HookAnswer:
        """A hook may refuse it, or say what the summary must not leave out."""
        return await self._ask(HookEvent.PRE_COMPACT, {k: v for k, v in said.items() if v is not None}, still=still)

    async def _ask(
        self, event: HookEvent, said: Mapping[str, Any], *, still: Callable[[], bool] | None = None
    ) -> HookAnswer:
        if not self._services.hooks.has(event):
            return NOTHING
        answer = NOTHING
        async with anyio.create_task_group() as group:
            group.start_soon(self._until_stopped, group.cancel_scope, still or self._goes_on)
            answer = await ask(self._services, self._actor.state.conversation, event, said=said)
            group.cancel_scope.cancel()
        if answer.trouble is not None:
            await self._show(answer.trouble)
        return answer

    def _goes_on(self) -> bool:
        run = self._actor.state.active
        return run is not None and run.interrupt is None

    async def _until_stopped(self, scope: anyio.CancelScope, still: Callable[[], bool]) -> None:
        """A stop of the person, or the end of the daemon, does not wait for a hook."""
        while still():
            await self._services.clock.sleep(LOOK_S)
        scope.cancel()

    async def _show(self, text: str) -> None:
        await record_patiently(self._actor, partial(note, text=text), self._services.clock)


def _go_on(state: ConversationState, at: str, *, run_id: str, text: str) -> Decision | None:
    if not can_steer(state.runs.get(run_id)):
        return None
    draft = Draft(state, at)
    steer(draft, run_id, Steer(content=(Block(type="text", text=text),), at=at))
    return draft.done()
