"""`agent/shell/*`: what goes on in the background."""

from collections.abc import Mapping
from typing import Any, Final

from agent_ls.core.errors import Code, Refusal
from agent_ls.core.shells import Shell
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk
from agent_ls.editor.handlers.receipts import answered_before, noted
from agent_ls.editor.window import Window
from agent_ls.runtime.actor import Actor
from agent_ls.wire import models


async def list_(desk: Desk, window: Window, params: models.ListShells) -> Answer:
    if params.conversation_id is not None:
        found = await desk.registry.conversation(params.conversation_id)
        if isinstance(found, Refusal):
            return found
    return {"shells": shells_of(desk, params.conversation_id)}


async def stop(desk: Desk, window: Window, params: models.StopShell) -> Answer:
    """The answer comes when it has ended. The receipt is its conversation's: the same command again says the same."""
    what = f"shell/stop {params.shell_id}"
    for actor, shell in _running(desk):
        if params.shell_id in (shell.id, shell.item_id):
            if refused := await noted(actor, params.command_id, what):
                return refused
            await desk.registry.shells.stop(shell.item_id, f"by {desk.person}")
            return {}
    gone = Refusal(Code.NOT_FOUND, f"There is no background shell `{params.shell_id}`.", "It may have ended by itself.")
    before = await answered_before(desk, params.command_id, what)
    return gone if before is None else before


def shells_of(desk: Desk, conversation_id: str | None = None) -> list[dict[str, Any]]:
    """Of one conversation, or of the daemon. A conversation that has one is always in memory."""
    rows = _running(desk)
    return [_view(desk, actor, shell) for actor, shell in rows if conversation_id in (None, actor.id)]


def _running(desk: Desk) -> list[tuple[Actor, Shell]]:
    return [(actor, shell) for actor in desk.registry.actors() for shell in actor.state.shells.values()]


def _view(desk: Desk, actor: Actor, shell: Shell) -> dict[str, Any]:
    process = desk.services.shells.process(shell.item_id)
    shown = {
        "id": shell.id,
        "conversationId": actor.id,
        "runId": shell.run_id,
        "itemId": shell.item_id,
        "command": shell.command,
        "cwd": shell.cwd,
        "since": shell.since,
    }
    return shown if process is None else {**shown, "pid": process.pid}


HANDLERS: Final[Mapping[str, Any]] = {
    "agent/shell/list": list_,
    "agent/shell/stop": stop,
}
