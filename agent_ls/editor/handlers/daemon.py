"""`agent/status`, `agent/blob/*`, `agent/drain`: the daemon itself."""

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


async def status(desk: Desk, window: Window, params: models.Params) -> Answer:
    return await desk.status()


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


HANDLERS: Final[Mapping[str, Any]] = {
    "agent/status": status,
    "agent/blob/read": blob,
    "agent/drain": drain,
}
