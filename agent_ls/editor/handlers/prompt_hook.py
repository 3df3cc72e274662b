"""The hooks `prompt` and `session_end`, which are asked about what a window wants.

Owns what a message is after its hook. Does not own the hooks (runtime.hook_calls).
"""

from functools import partial

from agent_ls.core.conversation import Conversation
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.hooks import HookEvent
from agent_ls.core.items import Block, ContextItem
from agent_ls.editor.desk import Desk
from agent_ls.ports.ledger import LedgerError
from agent_ls.runtime.hook_calls import ask, note

Said = tuple[tuple[Block, ...], tuple[ContextItem, ...], str | None]
"""Content, context, and what to show of a hook that failed."""


async def before_message(
    desk: Desk, conversation: Conversation, content: tuple[Block, ...], *, context: tuple[ContextItem, ...]
) -> Said | Refusal:
    if not desk.services.hooks.has(HookEvent.PROMPT):
        return content, context, None
    text = "\n".join(block.text for block in content if block.text)
    answer = await ask(desk.services, conversation, HookEvent.PROMPT, said={"text": text})
    if answer.refused is not None:
        return Refusal(
            Code.PERMISSION_DENIED,
            f"Your hook `prompt` refused this message: {answer.refused}",
            "Say it in another way; hooks stand under [hooks] in your config.toml.",
        )
    trouble = answer.trouble
    if answer.input is not None:
        changed = answer.input.get("text")
        if isinstance(changed, str) and changed.strip():
            content = (Block(type="text", text=changed), *(block for block in content if block.type != "text"))
        else:
            trouble = "The hook `prompt` printed an `input` without `text`. It was ignored."
    if answer.context:
        context = (*context, ContextItem(type="hook", text=answer.context))
    return content, context, trouble


async def show_trouble(desk: Desk, conversation_id: str, trouble: str | None) -> None:
    """In the run that goes on, where this daemon has it."""
    actor = desk.registry.live(conversation_id)
    if trouble is None or actor is None:
        return
    try:
        await actor.record(partial(note, text=trouble))
    except LedgerError:
        return  # it is in the log


def session_ends(desk: Desk, conversation_id: str, reason: str) -> None:
    """Beside everything else: nobody waits for it."""
    known = desk.services.sessions.pop(conversation_id, None)
    if known is None or not desk.services.hooks.has(HookEvent.SESSION_END):
        return

    async def tell() -> None:
        await ask(desk.services, known, HookEvent.SESSION_END, said={"reason": reason})

    desk.services.supervisor.start(f"session_end of {conversation_id}", tell)
