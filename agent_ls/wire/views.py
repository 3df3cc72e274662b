"""From what the daemon holds to what a window sees, where the two differ.

Owns the derived fields: a conversation's status and its summary, and an event without what is said once for all.
Does not own when they are sent (runtime.feed, editor.inbox).
"""

import json
from dataclasses import fields
from typing import Any

from agent_ls.core.conversation import Conversation, ConversationStatus
from agent_ls.core.events import Event
from agent_ls.core.stream import Stream
from agent_ls.wire.encode import to_wire
from agent_ls.wire.results import ConversationSummary, ConversationView


def conversation(held: Conversation, status: ConversationStatus) -> dict[str, Any]:
    view: dict[str, Any] = to_wire(ConversationView(**_fields(held), status=status))
    return view


def summary(held: Conversation, status: ConversationStatus, *, pending_requests: int, last_text: str) -> dict[str, Any]:
    view: dict[str, Any] = to_wire(
        ConversationSummary(**_fields(held), status=status, pending_requests=pending_requests, last_text=last_text)
    )
    return view


def event(held: Event) -> dict[str, Any]:
    """Without the conversation: `agent/event` says it once for all its events."""
    view: dict[str, Any] = to_wire(held)
    del view["conversationId"]
    view.pop("wire", None)
    return view


def event_json(held: Event) -> bytes:
    """The same as bytes; those that the ledger has stored, where it has."""
    return held.wire or json.dumps(event(held), ensure_ascii=False, separators=(",", ":")).encode()


def stream(held: Stream) -> dict[str, Any]:
    view: dict[str, Any] = to_wire(held)
    return view


def _fields(held: Conversation) -> dict[str, Any]:
    return {field.name: getattr(held, field.name) for field in fields(held)}
