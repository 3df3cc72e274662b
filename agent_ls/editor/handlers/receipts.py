"""Commands that decide nothing about a conversation and still are given once: a lock taken over, a shell ended.

Owns that their receipt is kept by the conversation concerned, and is found again when that conversation has nothing of
it any more.
"""

from agent_ls.core.draft import Decision
from agent_ls.core.errors import Refusal
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk
from agent_ls.runtime.actor import Actor, answer_of


async def noted(actor: Actor, command_id: str, what: str) -> Refusal | None:
    """Puts the command on record; why it must not be carried out, if so."""
    answer = await actor.command(command_id, lambda state, at: Decision(), what=what)
    return answer if isinstance(answer, Refusal) else None


async def answered_before(desk: Desk, command_id: str, what: str) -> Answer | None:
    """What the same command was answered, where there is nothing left that it could be about."""
    known = await desk.services.ledger.receipt(command_id)
    if known is None:
        return None
    answer = answer_of(known, known.conversation_id, what)
    return answer if isinstance(answer, Refusal) else {}
