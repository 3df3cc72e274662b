"""What a person can do at a conversation's documents: send, queue, steer, stop, and answer what waits.

Owns which of these there are, by the state of the conversation and never by what a document says. Does not own where
they are offered (lenses, code actions) nor what they do.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Request
from agent_ls.editor.surface.choosing import Chosen
from agent_ls.editor.surface.code_actions import commands
from agent_ls.wire.capabilities import SEND_PROMPT, command_of

STOP: Final = command_of("agent/run/interrupt")

Json = dict[str, Any]


def controls(state: ConversationState, pending: Sequence[Request], chosen: Callable[[Request], Chosen]) -> list[Json]:
    """As commands of LSP; what waits comes first."""
    known = state.conversation.id
    answers = [command for request in pending for command in commands(request, chosen(request))]
    return [*answers, *sending(known, busy=state.active is not None), *_stopping(state)]


def sending(conversation_id: str, *, busy: bool) -> list[Json]:
    ways = {"Send": "auto", "Queue": "queue", "Steer": "steer"} if busy else {"Send": "auto"}
    return [
        {
            "title": title,
            "command": SEND_PROMPT,
            "arguments": [{"conversationId": conversation_id, "dispatch": dispatch}],
        }
        for title, dispatch in ways.items()
    ]


def _stopping(state: ConversationState) -> list[Json]:
    run = state.active
    if run is None or run.interrupt is not None:
        return []
    return [{"title": "Stop", "command": STOP, "arguments": [{"runId": run.id}]}]
