"""From what serves a method to what a connection calls: the desk and the window are bound to it.

Owns the shapes of both. Does not own which method is served by what (handlers.table, features).
"""

from collections.abc import Awaitable, Callable
from typing import Any

from agent_ls.core.errors import Refusal
from agent_ls.editor.connection import Connection, Handler
from agent_ls.editor.desk import Desk
from agent_ls.editor.window import Window

Answer = dict[str, Any] | Refusal
"""What a handler of an `agent/*` request gives."""

Serve = Callable[[Desk, Window, dict[str, Any]], Awaitable[Any]]


def bound(desk: Desk, serve: Serve) -> Handler:
    async def run(connection: Connection, params: dict[str, Any]) -> Any:
        assert isinstance(connection, Window)
        return await serve(desk, connection, params)

    return run
