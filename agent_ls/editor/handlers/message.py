"""`agent/message/*`, `agent/queue/*`, `agent/run/*`: what a person says, and stopping it."""

from collections.abc import Mapping
from typing import Any, Final

from agent_ls.core.dispatch import Dispatch, Message
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.ids import conversation_of
from agent_ls.core.queue import QueueOp, QueueUpdate
from agent_ls.core.run import Interrupt
from agent_ls.core.uris import path_of
from agent_ls.editor.attachments import Attachments
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk
from agent_ls.editor.handlers.fingerprint import order
from agent_ls.editor.handlers.prompt_hook import before_message, show_trouble
from agent_ls.editor.handlers.subagent import stop_subagent
from agent_ls.editor.orders import AskAgain, Hurry, Stop, Wish
from agent_ls.editor.window import Window
from agent_ls.runtime.payloads import shrink_blocks, shrink_context
from agent_ls.wire import models


async def send(desk: Desk, window: Window, params: models.SendMessage) -> Answer:
    conversation = await desk.registry.conversation(params.conversation_id)
    if isinstance(conversation, Refusal):
        return conversation
    root = path_of(conversation.workspace)
    named = await Attachments(desk.files, desk.documents, window=window, root=root).resolve(
        params.content, params.context
    )
    hooked = await before_message(desk, conversation, tuple(named.content), context=tuple(named.context))
    if isinstance(hooked, Refusal):
        return hooked
    content, context, trouble = hooked
    message = Message(
        content=await shrink_blocks(content, desk.services.ledger.put_blob),
        context=await shrink_context(context, desk.services.ledger.put_blob),
        dispatch=Dispatch(params.dispatch),
        target_run_id=params.target_run_id,
        plan_id=params.plan_id,
        by=desk.person,
        from_=window.client,
    )
    answer = await desk.commands.run(order(params, conversation.id, message))
    if not isinstance(answer, Refusal):
        desk.documents.sent(params.conversation_id, window)
        await show_trouble(desk, conversation.id, trouble)
    return answer


async def update_queue(desk: Desk, window: Window, params: models.UpdateQueue) -> Answer:
    content = await shrink_blocks(params.content or (), desk.services.ledger.put_blob)
    change = QueueUpdate(op=QueueOp(params.op), run_id=params.run_id, content=content, before=params.before)
    return await desk.commands.run(order(params, params.conversation_id, change))


async def stop(desk: Desk, window: Window, params: models.InterruptRun) -> Answer:
    """Ack means noted; the end of the run comes as events."""
    if params.item_id is not None and (stopped := await stop_subagent(desk, window, params)):
        return stopped
    noted = Interrupt(by=desk.person, from_=window.client, at="", hold_queue=params.hold_queue)
    return await _of_run(desk, params, Stop(run_id=params.run_id, noted=noted, item_id=params.item_id))


async def hurry(desk: Desk, window: Window, params: models.CommandOnRun) -> Answer:
    return await _of_run(desk, params, Hurry(run_id=params.run_id))


async def ask_again(desk: Desk, window: Window, params: models.CommandOnRun) -> Answer:
    return await _of_run(desk, params, AskAgain(run_id=params.run_id))


async def _of_run(desk: Desk, params: models.CommandOnRun, wish: Wish) -> Answer:
    conversation_id = conversation_of(params.run_id)
    answer = await desk.commands.run(order(params, conversation_id, wish))
    unknown = isinstance(answer, Refusal) and answer.code is Code.NOT_FOUND
    if unknown and await desk.services.ledger.find(params.run_id) is None:
        return Refusal(Code.NOT_FOUND, f"There is no run `{params.run_id}`.")
    return answer


HANDLERS: Final[Mapping[str, Any]] = {
    "agent/message/send": send,
    "agent/queue/update": update_queue,
    "agent/run/interrupt": stop,
    "agent/run/hurry": hurry,
    "agent/run/retry": ask_again,
}
