"""`agent/conversation/*`: list, create, attach, page, change. What comes and goes as a whole is exchange.py's."""

import os
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from agent_ls.core.compacting import Compact
from agent_ls.core.conversation import Change, Conversation, ConversationStatus
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import Event
from agent_ls.core.ids import conversation_id as id_from
from agent_ls.core.projection import ConversationState
from agent_ls.core.run import Run, RunStatus
from agent_ls.core.uris import path_of
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk
from agent_ls.editor.handlers.fingerprint import order, what
from agent_ls.editor.handlers.lock import locks_of
from agent_ls.editor.handlers.prompt_hook import session_ends
from agent_ls.editor.handlers.shell import shells_of
from agent_ls.editor.orders import Settings
from agent_ls.editor.window import Window
from agent_ls.ports.ledger import ListQuery, Snapshot, Summary
from agent_ls.wire import models, views
from agent_ls.wire.encode import to_wire

REPLAY_LIMIT: Final = 256
REPLAY_BYTES: Final = 1024 * 1024


async def list_(desk: Desk, window: Window, params: models.ListConversations) -> Answer:
    query = ListQuery(
        workspace=params.workspace,
        query=params.query,
        archived=params.archived,
        cursor=params.cursor,
        limit=params.limit,
    )
    found, cursor = await desk.services.ledger.conversations(query)
    shown: dict[str, Any] = {"conversations": [_summary(summary) for summary in found]}
    return shown if cursor is None else {**shown, "nextCursor": cursor}


async def create(desk: Desk, window: Window, params: models.CreateConversation) -> Answer:
    trouble = _workspace_trouble(params.workspace)
    if trouble is not None:
        return trouble
    chosen = desk.catalog.choose(params.provider)
    if isinstance(chosen, Refusal):
        return chosen
    model = params.model or chosen.model
    if model is None:
        return Refusal(
            Code.INVALID_PARAMS,
            f"Provider `{chosen.name}` has no default model.",
            f"Name one, or set `model` under [providers.{chosen.name}] in config.toml.",
        )
    now = desk.services.clock.now()
    wanted = Conversation(
        id=id_from(params.command_id),
        workspace=params.workspace.rstrip("/") if params.workspace != "file:///" else params.workspace,
        title=(params.title or "").strip(),
        provider=chosen.name,
        model=model,
        mode=params.mode or desk.catalog.mode,
        created_at=now,
        updated_at=now,
        trusted=window.trusted,
        host=desk.services.host or None,
    )
    may_auto = desk.services.may_auto or params.allow_auto
    made = await desk.registry.create(params.command_id, wanted, may_auto=may_auto, what=what(params))
    if isinstance(made, Refusal):
        return made
    return await conversed(desk, made["conversationId"], made["seq"])


async def attach(desk: Desk, window: Window, params: models.Attach) -> Answer:
    """Follow first, then read: what is committed meanwhile is kept back and sent after the answer."""
    known = params.conversation_id
    before = window.follows(known)
    window.follow(known)
    try:
        return await _attached(desk, window, params)
    except BaseException:
        # No answer comes after which the events kept back would be sent.
        window.as_before(known, followed=before)
        raise


async def _attached(desk: Desk, window: Window, params: models.Attach) -> Answer:
    known = params.conversation_id
    head = await desk.reading.head(known)
    if head is None:
        window.detach(known)
        return missing(known)
    desk.follow(known, head.seq)
    missed = await _missed(desk, known, after=params.after, seq=head.seq)
    if missed is None:
        page = await desk.reading.page(known, None, params.backfill.items)
        items, older = [to_wire(item) for item in page.items], page.older
    else:
        items, older = [], None
    await desk.drafts.load(known)
    answer: dict[str, Any] = {
        "conversation": _view(head),
        "items": items,
        "requests": [to_wire(request) for request in await desk.reading.requests(None, known)],
        "queue": [to_wire(run) for run in _queue(head)],
        "locks": locks_of(desk, known),
        "shells": shells_of(desk, known),
        "windows": desk.inbox.presence.of(known),
        "streams": [views.stream(stream) for stream in desk.services.feed.streams(known)],
        "seq": head.seq if missed is None else params.after,
        "snapshot": missed is None,
    }
    if older is not None:
        answer["olderCursor"] = older
    if draft := desk.drafts.of(known):
        answer["draft"] = draft
    active = next((run for run in head.entities if isinstance(run, Run) and not _at_rest(run)), None)
    if active is not None:
        answer["run"] = to_wire(active)
    window.after_reply(partial(window.release, known, answer["seq"], missed or ()))
    window.after_reply(partial(desk.inbox.follow, window, known))
    return answer


async def detach(desk: Desk, window: Window, params: models.OfConversation) -> Answer:
    window.detach(params.conversation_id)
    desk.inbox.follow(window, params.conversation_id)
    return {}


async def items(desk: Desk, window: Window, params: models.OlderItems) -> Answer:
    page = await desk.reading.page(params.conversation_id, params.cursor, params.limit)
    shown: dict[str, Any] = {"items": [to_wire(item) for item in page.items]}
    return shown if page.older is None else {**shown, "olderCursor": page.older}


async def update(desk: Desk, window: Window, params: models.UpdateConversation) -> Answer:
    model = params.model
    if params.provider is not None:
        chosen = desk.catalog.choose(params.provider)
        if isinstance(chosen, Refusal):
            return chosen
        model = model or chosen.model
    change = Change(
        title=params.title, provider=params.provider, model=model, mode=params.mode, archived=params.archived
    )
    wish = Settings(change=change, may_auto=desk.services.may_auto or params.allow_auto)
    done = await desk.commands.run(order(params, params.conversation_id, wish))
    if params.archived and not isinstance(done, Refusal):
        session_ends(desk, params.conversation_id, "archived")
    return done if isinstance(done, Refusal) else await conversed(desk, params.conversation_id, done["seq"])


async def compact(desk: Desk, window: Window, params: models.CompactConversation) -> Answer:
    """Ack means noted; what came of it is an item."""
    wanted = (params.instructions or "").strip() or None
    wish = Compact(by=desk.person, from_=window.client, instructions=wanted)
    return await desk.commands.run(order(params, params.conversation_id, wish))


async def _missed(desk: Desk, conversation_id: str, *, after: int | None, seq: int) -> list[Event] | None:
    """Events since `after`, or None where a snapshot serves better (or the window knows nothing yet)."""
    if after is None or after > seq or seq - after > REPLAY_LIMIT:
        return None
    events = await desk.reading.events(conversation_id, after, REPLAY_LIMIT)
    if events is None or sum(len(views.event_json(event)) for event in events) > REPLAY_BYTES:
        return None
    return list(events)


async def conversed(desk: Desk, conversation_id: str, seq: int) -> Answer:
    head = await desk.reading.head(conversation_id)
    return missing(conversation_id) if head is None else {"conversation": _view(head), "seq": seq}


def _view(head: Snapshot) -> dict[str, Any]:
    return views.conversation(conversation_of(head), _status(head))


def conversation_of(snapshot: Snapshot) -> Conversation:
    return next(entity for entity in snapshot.entities if isinstance(entity, Conversation))


def _status(head: Snapshot) -> ConversationStatus:
    return ConversationState.of(head.entities, head.seq).status()


def _queue(head: Snapshot) -> list[Run]:
    queued = [run for run in head.entities if isinstance(run, Run) and run.status is RunStatus.QUEUED]
    return sorted(queued, key=lambda run: (run.position or 0, run.ordinal))


def _at_rest(run: Run) -> bool:
    return run.ended or run.status is RunStatus.QUEUED


def _summary(found: Summary) -> dict[str, Any]:
    pending, text = found.pending_requests, found.last_text
    return views.summary(found.conversation, found.status, pending_requests=pending, last_text=text)


def _workspace_trouble(workspace: str) -> Refusal | None:
    if not workspace.startswith("file://"):
        return Refusal(
            Code.INVALID_PARAMS,
            "`workspace` has to be a file URI of a folder.",
            "For example file:///home/you/project.",
        )
    if not os.path.isdir(path_of(workspace)):
        return Refusal(
            Code.INVALID_PARAMS, f"`workspace`: there is no folder {path_of(workspace)}.", "Name one that is there."
        )
    return None


def missing(conversation_id: str) -> Refusal:
    return Refusal(Code.NOT_FOUND, f"There is no conversation `{conversation_id}`.")


HANDLERS: Final[Mapping[str, Any]] = {
    "agent/conversation/list": list_,
    "agent/conversation/create": create,
    "agent/conversation/attach": attach,
    "agent/conversation/detach": detach,
    "agent/conversation/items": items,
    "agent/conversation/update": update,
    "agent/conversation/compact": compact,
}
