"""`agent/lock/*`: who may change what just now, and the person who takes that over."""

from collections.abc import Mapping
from typing import Any, Final

from agent_ls.core.errors import Code, Refusal
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk
from agent_ls.editor.handlers.receipts import answered_before, noted
from agent_ls.editor.window import Window
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
        if refused := await noted(actor, params.command_id, what):
            return refused
        desk.services.locks.take_over(params.key)
        return {}
    unknown = Refusal(Code.NOT_FOUND, f"Nothing holds `{params.key[:200]}`.", "`agent-ls locks` lists what is held.")
    before = await answered_before(desk, params.command_id, what)
    return unknown if before is None else before


def locks_of(desk: Desk, conversation_id: str | None = None) -> list[dict[str, Any]]:
    """Locks as windows see them; of one conversation, or of the daemon."""
    held = desk.services.locks.held()
    return [to_wire(lock) for lock in held if conversation_id in (None, lock.conversation_id)]


HANDLERS: Final[Mapping[str, Any]] = {
    "agent/lock/list": list_,
    "agent/lock/release": release,
}
