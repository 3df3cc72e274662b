"""`agent/status`, `agent/lock/*`, `agent/blob/*`, `agent/drain`: the daemon itself."""

import base64
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from agent_ls.core.errors import Code, Refusal
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk
from agent_ls.editor.window import Window
from agent_ls.runtime.drain import DrainMode
from agent_ls.wire import models
from agent_ls.wire.encode import to_wire


async def status(desk: Desk, window: Window, params: models.Params) -> Answer:
    return await desk.status()


async def locks(desk: Desk, window: Window, params: models.Params) -> Answer:
    return {"locks": locks_of(desk)}


async def blob(desk: Desk, window: Window, params: models.ReadBlob) -> Answer:
    content = await desk.services.ledger.get_blob(params.digest)
    if content is None:
        return Refusal(Code.NOT_FOUND, f"There is no blob `{params.digest}`.", "It may have been deleted.")
    part = content[params.offset : params.offset + params.limit]
    return {"data": base64.b64encode(part).decode(), "offset": params.offset, "size": len(content)}


async def drain(desk: Desk, window: Window, params: models.Drain) -> Answer:
    begin = partial(desk.services.drain.begin, DrainMode(params.mode), params.deadline_ms / 1000)
    window.after_reply(begin)
    return {}


def locks_of(desk: Desk, conversation_id: str | None = None) -> list[dict[str, Any]]:
    """Locks as windows see them; of one conversation, or of the daemon."""
    held = desk.services.locks.held()
    return [to_wire(lock) for lock in held if conversation_id in (None, lock.conversation_id)]


HANDLERS: Final[Mapping[str, Any]] = {
    "agent/status": status,
    "agent/lock/list": locks,
    "agent/blob/read": blob,
    "agent/drain": drain,
}
