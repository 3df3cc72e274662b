"""From the METHODS table to the handlers of a connection: decode, call, unwrap.

Owns that every request method has a handler or answers `unsupported`, and the commands that plain LSP clients run.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from agent_ls.core.errors import Code, Refusal, Refused
from agent_ls.editor.connection import Connection, Handler
from agent_ls.editor.desk import Desk
from agent_ls.editor.features import answers, sync, table
from agent_ls.editor.handlers import (
    change,
    conversation,
    daemon,
    document,
    exchange,
    fork,
    lock,
    message,
    provider,
    request,
    rules,
    shell,
)
from agent_ls.editor.window import Window
from agent_ls.ports.ledger import LedgerError
from agent_ls.wire.methods import METHODS, Direction, Method, unsupported

Handle = Callable[[Desk, Window, Any], Awaitable[dict[str, Any] | Refusal]]

HANDLERS: Final[Mapping[str, Handle]] = {
    **conversation.HANDLERS,
    **exchange.HANDLERS,
    **fork.HANDLERS,
    **message.HANDLERS,
    **lock.HANDLERS,
    **request.HANDLERS,
    **rules.HANDLERS,
    **change.HANDLERS,
    **provider.HANDLERS,
    **shell.HANDLERS,
    **daemon.HANDLERS,
}

COMMAND_PREFIX: Final = "agent-ls."


def handlers(desk: Desk) -> dict[str, Handler]:
    """By method name, as a connection wants them."""
    found = {
        method.name: _handler(desk, method) for method in METHODS.values() if method.direction is Direction.REQUEST
    }
    found["workspace/executeCommand"] = answers.guarded(desk, _commands({**found, **table.commands(desk, found)}))
    found |= sync.watched(desk, document.handlers(desk))
    return found | table.handlers(desk, found)


def _handler(desk: Desk, method: Method) -> Handler:
    handle = HANDLERS.get(method.name)

    async def run(connection: Connection, raw: dict[str, Any]) -> Any:
        params = unsupported(method) if handle is None else method.read(raw)
        if isinstance(params, Refusal):
            raise Refused(params)
        assert isinstance(connection, Window)
        assert handle is not None
        try:
            answer = await handle(desk, connection, params)
        except LedgerError as error:
            answer = error.refusal
        if isinstance(answer, Refusal):
            raise Refused(answer)
        return answer

    return run


def _commands(methods: Mapping[str, Handler]) -> Handler:
    """`agent-ls.<noun>.<verb>` with one object argument is the method `agent/<noun>/<verb>`."""

    async def run(connection: Connection, raw: dict[str, Any]) -> Any:
        name = str(raw.get("command", ""))
        method = "agent/" + name.removeprefix(COMMAND_PREFIX).replace(".", "/")
        handle = methods.get(method) if name.startswith(COMMAND_PREFIX) else None
        if handle is None:
            raise Refused(Refusal(Code.INVALID_PARAMS, f"There is no command `{name[:80]}`."))
        arguments = raw.get("arguments") or [{}]
        if not isinstance(arguments, list) or len(arguments) != 1 or not isinstance(arguments[0], dict):
            raise Refused(Refusal(Code.INVALID_PARAMS, f"`{name}` takes one object as its argument."))
        return await handle(connection, arguments[0])

    return run
