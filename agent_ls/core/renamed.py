"""An entity under other ids, as part of another conversation.

Owns which fields of an entity name something of its conversation. Does not own which id becomes which, nor what else
changes on the way (imported.py, lineage.py).
"""

from collections.abc import Callable
from dataclasses import replace

from agent_ls.core.attempt import Attempt
from agent_ls.core.conversation import Conversation
from agent_ls.core.events import AnyEntity
from agent_ls.core.items import Call, Compaction, Item, Payload
from agent_ls.core.request import Request
from agent_ls.core.run import Run


def renamed(entity: AnyEntity, own: str, of: Callable[[str], str]) -> AnyEntity:
    """`own` is the conversation that it is part of from now on; a conversation itself stays as it is."""

    def maybe(known: str | None) -> str | None:
        return None if known is None else of(known)

    match entity:
        case Conversation():
            return entity
        case Run():
            return replace(
                entity,
                id=of(entity.id),
                conversation_id=own,
                user_item_id=maybe(entity.user_item_id),
                active_attempt_id=maybe(entity.active_attempt_id),
                retry_of=maybe(entity.retry_of),
                plan_id=maybe(entity.plan_id),
                supersedes=maybe(entity.supersedes),
            )
        case Attempt():
            return replace(
                entity,
                id=of(entity.id),
                conversation_id=own,
                run_id=of(entity.run_id),
                answers=tuple(map(of, entity.answers)),
            )
        case Item():
            return replace(
                entity,
                id=of(entity.id),
                conversation_id=own,
                run_id=of(entity.run_id),
                attempt_id=maybe(entity.attempt_id),
                step_id=maybe(entity.step_id),
                parent_id=maybe(entity.parent_id),
                payload=_payload(entity.payload, of),
            )
        case Request():
            return replace(
                entity, id=of(entity.id), conversation_id=own, run_id=of(entity.run_id), item_id=of(entity.item_id)
            )


def _payload(payload: Payload, of: Callable[[str], str]) -> Payload:
    match payload:
        case Call(request_id=str(request_id)):
            return replace(payload, request_id=of(request_id))
        case Compaction(first_kept=first, messages=messages):
            kept = None if first is None else of(first)
            return replace(payload, first_kept=kept, messages=tuple(map(of, messages)))
        case _:
            return payload
