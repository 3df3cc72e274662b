"""Stopping one subagent and nothing else: the run that asked for it goes on and is told.

Owns the way from an item of the parent to the run of the child. What a stop does is core.interrupt's.
"""

from agent_ls.core import delegation, ids
from agent_ls.core.delegation import TASK
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.items import Call, Item, Subagent
from agent_ls.core.run import Interrupt
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk
from agent_ls.editor.handlers.fingerprint import order
from agent_ls.editor.orders import Stop
from agent_ls.editor.window import Window
from agent_ls.wire import models


async def stop_subagent(desk: Desk, window: Window, params: models.InterruptRun) -> Answer | None:
    """`itemId` of the subagent, or of the call that asked for it. None where the item is neither."""
    found = await desk.reading.entity(params.item_id or "")
    call_item = _call_of(found) if isinstance(found, Item) and found.run_id == params.run_id else None
    if call_item is None:
        return None
    if desk.services.subagents.leave_line(call_item):
        actor = desk.registry.live(ids.conversation_of(call_item))
        return {"runId": params.run_id, "status": "stopping", "seq": 0 if actor is None else actor.state.seq}
    child_id = ids.subagent_conversation(call_item)
    state = await desk.registry.state(child_id)
    run = None if isinstance(state, Refusal) else delegation.first_run(state)
    if run is None:
        return Refusal(Code.NOT_FOUND, "This subagent has not begun.", "Stop the run that asked for it.")
    noted = Interrupt(by=desk.person, from_=window.client, at="", hold_queue=params.hold_queue)
    answer = await desk.commands.run(order(params, child_id, Stop(run_id=run.id, noted=noted)))
    return answer if isinstance(answer, Refusal) else {**answer, "runId": params.run_id}


def _call_of(item: Item) -> str | None:
    match item.payload:
        case Subagent():
            return item.parent_id
        case Call(tool=tool) if tool == TASK:
            return item.id
        case _:
            return None
