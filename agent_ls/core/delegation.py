"""Work that a call hands to a subagent: a conversation of its own, and how its parent shows it.

Owns what a child is made with, its limits, its item in the parent, and what the call's one result is. Does not own who
waits for it (runtime.children), nor what a child may do: its calls are judged like any others.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from agent_ls.core import ids
from agent_ls.core.agents import Agent
from agent_ls.core.conversation import SUBAGENT, Conversation, ConversationStatus, Delegated, stricter
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.events import ItemFact
from agent_ls.core.items import (
    AssistantMessage,
    Compaction,
    Item,
    ItemKind,
    ItemStatus,
    ResultStatus,
    Subagent,
    TodoList,
    ToolResult,
    Usage,
)
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Origin
from agent_ls.core.rules import Ruling
from agent_ls.core.run import Interrupt, Run, RunStatus

TASK: Final = "task"
LEVELS: Final = 3
AT_ONCE: Final = 4
_SHOWN: Final = 2_000


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the call asks for."""

    task: str
    prompt: str
    tools: tuple[str, ...] | None = None
    model: str | None = None
    agent: str | None = None


def _unknown(conversation_id: str) -> ConversationState | None:
    return None


def depth(conversation: Conversation) -> int:
    """How many conversations stand above it."""
    return 0 if conversation.delegated is None else len(conversation.delegated.ancestors)


def root(conversation: Conversation) -> str:
    return conversation.id if conversation.delegated is None else conversation.delegated.ancestors[0]


def origin(conversation: Conversation) -> Origin | None:
    """What stands on a request of a subagent."""
    held = conversation.delegated
    return None if held is None else Origin(conversation_ids=held.ancestors, task=held.task, agent=held.agent)


def child(parent: Conversation, item_id: str, wanted: Wanted, *, agent: Agent | None, at: str) -> Conversation:
    """Same workspace, rules and mode; never more tools than its parent has. What its parent may do unasked it may do as
    long as its parent may (`bounded`): a rule that is taken back is taken back for both."""
    above = () if parent.delegated is None else parent.delegated.ancestors
    limits = [] if parent.delegated is None else [parent.delegated.tools]
    limits += [wanted.tools, None if agent is None else agent.tools]
    delegated = Delegated(
        item_id=item_id,
        task=wanted.task,
        ancestors=(*above, parent.id),
        agent=None if agent is None else agent.name,
        instructions=None if agent is None else agent.body or None,
        tools=_narrowed([each for each in limits if each is not None]),
    )
    return Conversation(
        id=ids.subagent_conversation(item_id),
        workspace=parent.workspace,
        title=wanted.task,
        provider=parent.provider,
        model=wanted.model or (agent.model if agent is not None else None) or parent.model,
        mode=parent.mode,
        created_at=at,
        updated_at=at,
        parent_id=parent.id,
        relation=SUBAGENT,
        delegated=delegated,
        rules=tuple(rule for rule in parent.rules if rule.get("verdict") != Ruling.ALLOW),
        trusted=parent.trusted,
        host=parent.host,
    )


def bounded(held: Conversation, above: Iterable[Conversation]) -> Conversation:
    """Never freer than who it works for, whatever became of them since it began; `above` are those that are known."""
    for one in above:
        mode = stricter(held.mode, one.mode)
        rules = (rule for rule in one.rules if rule not in held.rules)
        held = replace(held, mode=mode, rules=(*held.rules, *rules), trusted=held.trusted and one.trusted)
    return held


def first_run(state: ConversationState) -> Run | None:
    """The run that does the work; what a person says to a subagent besides it is theirs."""
    return state.runs.get(ids.run_id(state.conversation.id, 1))


def progress(state: ConversationState, *, call_id: str) -> Subagent:
    """How the child stands, for the parent's transcript."""
    conversation = state.conversation
    status = state.status()
    waiting = {request.number for request in state.pending.values()}
    waiting |= {number for each in _handed(state) for number in each.requests}
    if status is ConversationStatus.RUNNING and waiting:
        status = ConversationStatus.WAITING
    return Subagent(
        conversation_id=conversation.id,
        task=conversation.delegated.task if conversation.delegated is not None else conversation.title,
        status=str(status),
        agent=None if conversation.delegated is None else conversation.delegated.agent,
        requests=tuple(sorted(waiting)),
        steps=_steps(state),
        usage=usage(state),
        taken=taken(state),
        call_id=call_id,
    )


def waits(conversation_id: str, wanted: Wanted, *, call_id: str) -> Subagent:
    """Before its turn has come."""
    return Subagent(
        conversation_id=conversation_id, task=wanted.task, status="queued", agent=wanted.agent, call_id=call_id
    )


def note(state: ConversationState, at: str, *, item_id: str, shown: Subagent) -> Decision | None:
    """The parent shows it so, as long as the call goes on."""
    call = state.items[item_id]
    known = state.items.get(ids.subagent_id(item_id))
    if not call.open or (known is not None and known.payload == shown):
        return None
    draft = Draft(state, at)
    status = ItemStatus.PENDING if shown.status == "queued" else ItemStatus.RUNNING
    if known is not None:
        draft.put(ItemFact.UPDATED, replace(known, payload=shown, status=status, updated_at=at))
        return draft.done()
    draft.add_item(
        call.run_id,
        ids.subagent_id(item_id),
        ItemKind.SUBAGENT,
        payload=shown,
        attempt_id=call.attempt_id,
        parent_id=item_id,
        status=status,
    )
    return draft.done()


def given_up(state: ConversationState, item_id: str) -> Interrupt | None:
    """How the work ends where nobody wants its result any more: the run was stopped, or began anew."""
    item = state.items[item_id]
    run = state.runs[item.run_id]
    if run.interrupt is not None or item.attempt_id == run.active_attempt_id:
        return run.interrupt
    return Interrupt(by="the run, which began anew", from_="", at="")


def outcome(state: ConversationState) -> ToolResult | None:
    """The result of the call; None while the work goes on."""
    run = first_run(state)
    if run is None or not run.ended:
        return None
    text = _last_words(state, run.id)
    match run.status:
        case RunStatus.COMPLETED:
            return ToolResult(status=ResultStatus.OK, output=text or "The subagent ended without saying anything.")
        case RunStatus.FAILED:
            why = str((run.error or {}).get("message") or "it did not say why")
            return ToolResult(status=ResultStatus.ERROR, output=_with(f"The subagent failed: {why}", text))
        case _:
            by = f" by {run.interrupt.by}" if run.interrupt is not None else ""
            return ToolResult(status=ResultStatus.INTERRUPTED, output=_with(f"The subagent was stopped{by}.", text))


def keep(draft: Draft, call: Item) -> None:
    """The subagent's item ends in the commit of the call's result."""
    item_id = ids.subagent_id(call.id)
    if item_id not in draft.state.items:
        return
    item = draft.get_item(item_id)
    if isinstance(item.payload, Subagent) and item.open:
        result = call.call.result
        said = "" if result is None else result.output
        ended = replace(item.payload, status=_ENDED[call.status], result=said[:_SHOWN], requests=())
        draft.put(ItemFact.UPDATED, replace(item, payload=ended, status=call.status, updated_at=draft.at))


def close(draft: Draft, run_id: str) -> None:
    """Nobody waits for it any more: its call was settled in another way."""
    for item in draft.run_items(run_id):
        if isinstance(item.payload, Subagent) and item.open:
            keep(draft, draft.get_item(item.parent_id or ""))


def usage(state: ConversationState, run_id: str | None = None) -> Usage:
    """Of the conversation (or of one run of it), of its summaries, and of all that it has handed over."""
    total = handed_usage(state, run_id).plus(compaction_usage(state, run_id))
    for attempt in state.attempts.values():
        if run_id in (None, attempt.run_id):
            total = total.plus(attempt.usage)
    return total


def taken(
    state: ConversationState, run_id: str | None = None, known: Callable[[str], ConversationState | None] = _unknown
) -> int:
    """Steps of the conversation (or of one run of it), and of all that it has handed over.

    `known` finds a subagent as it is now: what its parent shows of it comes a moment later.
    """
    total = sum(attempt.steps for attempt in state.attempts.values() if run_id in (None, attempt.run_id))
    for item in state.items.values():
        if isinstance(item.payload, Subagent) and run_id in (None, item.run_id):
            child = known(item.payload.conversation_id)
            total += (item.payload.taken or 0) if child is None else taken(child, known=known)
    return total


def compaction_usage(state: ConversationState, run_id: str | None = None) -> Usage:
    total = Usage()
    for item in state.items.values():
        if isinstance(item.payload, Compaction) and run_id in (None, item.run_id):
            total = total.plus(item.payload.usage or Usage())
    return total


def handed_usage(state: ConversationState, run_id: str | None = None) -> Usage:
    """Of subagents alone."""
    total = Usage()
    for item in state.items.values():
        if isinstance(item.payload, Subagent) and run_id in (None, item.run_id):
            total = total.plus(item.payload.usage or Usage())
    return total


def children(state: ConversationState) -> list[str]:
    """Conversations that work or have worked for this one; none that an imported transcript only tells of."""
    handed = [item for item in state.items.values() if isinstance(item.payload, Subagent)]
    made = [ids.subagent_conversation(item.parent_id or "") for item in handed]
    return [known for known, item in zip(made, handed, strict=True) if _names(item, known)]


_ENDED: Final = {
    ItemStatus.PENDING: "queued",
    ItemStatus.RUNNING: "running",
    ItemStatus.COMPLETED: "completed",
    ItemStatus.FAILED: "failed",
    ItemStatus.CANCELLED: "interrupted",
    ItemStatus.INTERRUPTED: "interrupted",
}


def _handed(state: ConversationState) -> list[Subagent]:
    return [item.payload for item in state.items.values() if isinstance(item.payload, Subagent)]


def _names(item: Item, conversation_id: str) -> bool:
    return isinstance(item.payload, Subagent) and item.payload.conversation_id == conversation_id


def _steps(state: ConversationState) -> tuple[dict[str, object], ...]:
    lists = [item.payload for item in state.items.values() if isinstance(item.payload, TodoList)]
    return lists[-1].steps if lists else ()


def _last_words(state: ConversationState, run_id: str) -> str:
    said = [item.payload.text for item in state.items_of(run_id) if isinstance(item.payload, AssistantMessage)]
    return said[-1].strip() if said else ""


def _with(sentence: str, text: str) -> str:
    return f"{sentence}\n\nIts last words:\n{text}" if text else sentence


def _narrowed(limits: Sequence[tuple[str, ...]]) -> tuple[str, ...] | None:
    if not limits:
        return None
    first, *others = limits
    return tuple(name for name in dict.fromkeys(first) if all(name in other for other in others))
