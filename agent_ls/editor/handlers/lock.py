"""`agent/lock/*`: who may change what just now, and the person who takes that over."""

from collections.abc import Mapping
from typing import Any, Final

from agent_ls.core.draft import Decision
from agent_ls.core.errors import Code, Refusal
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk
from agent_ls.editor.window import Window
from agent_ls.runtime.actor import answer_of
from agent_ls.wire import models
from agent_ls.wire.encode import to_wire


async def list_(desk: Desk, window: Window, params: models.Params) -> Answer:
    return {"locks": locks_of(desk)}


async def release(desk: Desk, window: Window, params: models.ReleaseLock) -> Answer:
    """Who waits for it goes on. The receipt is kept by the conversation that held it."""
    held = next((lock for lock in desk.services.locks.held() if lock.key == params.key), None)
    what = f"lock/release {params.key}"
    actor = None if held is None else desk.registry.live(held.conversation_id)
    if actor is not None:
        noted = await actor.command(params.command_id, lambda state, at: Decision(), what=what)
        if isinstance(noted, Refusal):
            return noted
        desk.services.locks.take_over(params.key)
        return {}
    known = await desk.services.ledger.receipt(params.command_id)
    if known is not None:
        answered = answer_of(known, known.conversation_id, what)
        return answered if isinstance(answered, Refusal) else {}
    return Refusal(Code.NOT_FOUND, f"Nothing holds `{params.key[:200]}`.", "`agent-ls locks` lists what is held.")


def locks_of(desk: Desk, conversation_id: str | None = None) -> list[dict[str, Any]]:
    """Locks as windows see them; of one conversation, or of the daemon."""
    held = desk.services.locks.held()
    return [to_wire(lock) for lock in held if conversation_id in (None, lock.conversation_id)]


HANDLERS: Final[Mapping[str, Any]] = {
    "agent/lock/list": list_,
    "agent/lock/release": release,
}
