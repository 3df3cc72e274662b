"""Asking the input of a run again that came to nothing.

Owns which runs can be asked again and what their input was. What it becomes (started, queued) is dispatch.py's.
"""

from collections.abc import Iterable
from dataclasses import replace

from agent_ls.core.dispatch import Dispatch, Disposition, Message, send
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.items import UserMessage
from agent_ls.core.projection import ConversationState
from agent_ls.core.run import Run, RunStatus, unknown_run

AGAIN = frozenset({RunStatus.FAILED, RunStatus.INTERRUPTED, RunStatus.CANCELLED})


def ask_again(state: ConversationState, run_id: str, at: str) -> Decision | Refusal:
    """`{runId, disposition}` of a new run that names this one in `retryOf`, or of one that still goes on."""
    run = state.runs.get(run_id)
    if run is None:
        return unknown_run(run_id)
    if run.status not in AGAIN:
        return Refusal(
            Code.INVALID_PARAMS,
            f"Message {run.ordinal} is {run.status}; only one that failed or was stopped can be asked again.",
            "Send it as a new message.",
        )
    asked = next((other for other in _open(state) if other.retry_of == run_id), None)
    if asked is not None:
        # Two windows, or two clicks: it is answered once.
        how = Disposition.QUEUED if asked.status is RunStatus.QUEUED else Disposition.STARTED
        return Draft(state, at).done(runId=asked.id, disposition=str(how))
    return send(state, replace(_input(state, run), retry_of=run_id), at)


def _open(state: ConversationState) -> Iterable[Run]:
    return [run for run in (state.active, *state.queued.values()) if run is not None]


def _input(state: ConversationState, run: Run) -> Message:
    """All that the person said to it: the message, and what joined while it went on."""
    said = [item.payload for item in state.items_of(run.id) if isinstance(item.payload, UserMessage)]
    return Message(
        content=(*run.content, *(block for message in said for block in message.content)),
        context=(*run.context, *(held for message in said for held in message.context)),
        dispatch=Dispatch.QUEUE if state.active is not None else Dispatch.AUTO,
    )
