"""`agent/shell/*`: what goes on in the background."""

from collections.abc import Mapping
from typing import Any, Final

from agent_ls.core.errors import Refusal
from agent_ls.core.shells import Shell
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk
from agent_ls.editor.handlers.fingerprint import order, what
from agent_ls.editor.handlers.receipts import answered_before
from agent_ls.editor.orders import EndShell, no_shell
from agent_ls.editor.window import Window
from agent_ls.ports.ledger import ListQuery
from agent_ls.ports.shared import Shared
from agent_ls.runtime.actor import Actor
from agent_ls.wire import models

PAGES: Final = 20
"""Of conversations, in search of a shell at another daemon: the newest first."""


async def list_(desk: Desk, window: Window, params: models.ListShells) -> Answer:
    if params.conversation_id is not None:
        found = await desk.registry.conversation(params.conversation_id)
        if isinstance(found, Refusal):
            return found
        if desk.registry.live(params.conversation_id) is None:
            state = await desk.registry.state(params.conversation_id)
            rows = [] if isinstance(state, Refusal) else list(state.shells.values())
            return {"shells": [_view(desk, params.conversation_id, shell) for shell in rows]}
    return {"shells": shells_of(desk, params.conversation_id)}


async def stop(desk: Desk, window: Window, params: models.StopShell) -> Answer:
    """The answer comes when it has ended. The receipt is its conversation's: the same command again says the same."""
    found = await _named(desk, params.shell_id)
    if found is None:
        before = await answered_before(desk, params.command_id, what(params))
        return no_shell(params.shell_id) if before is None else before
    conversation_id, shell = found
    ended = await desk.commands.run(order(params, conversation_id, EndShell(item_id=shell.item_id, by=desk.person)))
    return ended if isinstance(ended, Refusal) else {}


def shells_of(desk: Desk, conversation_id: str | None = None) -> list[dict[str, Any]]:
    """Of one conversation, or of the daemon. A conversation that has one is always in the memory of its daemon."""
    rows = _running(desk)
    return [_view(desk, actor.id, shell) for actor, shell in rows if conversation_id in (None, actor.id)]


def _running(desk: Desk) -> list[tuple[Actor, Shell]]:
    return [(actor, shell) for actor in desk.registry.actors() for shell in actor.state.shells.values()]


async def _named(desk: Desk, shell_id: str) -> tuple[str, Shell] | None:
    """Where it runs, here or at another daemon on the same ledger. Those are looked through only for a name."""
    here = next(((actor.id, shell) for actor, shell in _running(desk) if _is(shell, shell_id)), None)
    ledger: object = desk.services.ledger
    if here is not None or not isinstance(ledger, Shared):
        return here
    cursor: str | None = None
    for _ in range(PAGES):
        page, cursor = await desk.services.ledger.conversations(ListQuery(cursor=cursor))
        for summary in page:
            known = summary.conversation.id
            if desk.registry.live(known) is None and await ledger.owner(known) is not None:
                state = await desk.registry.state(known)
                shells = () if isinstance(state, Refusal) else state.shells.values()
                if (found := next((shell for shell in shells if _is(shell, shell_id)), None)) is not None:
                    return known, found
        if cursor is None:
            break
    return None


def _is(shell: Shell, named: str) -> bool:
    return named in (shell.id, shell.item_id)


def _view(desk: Desk, conversation_id: str, shell: Shell) -> dict[str, Any]:
    process = desk.services.shells.process(shell.item_id)
    shown = {
        "id": shell.id,
        "conversationId": conversation_id,
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
