"""The `mcp` package, loaded when a server is first wanted: importing it costs half a second.

The only module that knows the SDK's names. It is loaded in a worker thread, and only once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import anyio
from anyio import to_thread

from agent_ls.version import __version__

_LONGEST: Final = 300


@dataclass(frozen=True, kw_only=True)
class Sdk:
    """`parse` makes a message for the client of one line; it raises ValueError. `troubles` are what a broken, silent or
    dying server raises."""

    make_client: Callable[..., Any]
    parse: Callable[[bytes], Any]
    http_client: Callable[..., Any]
    http_session: Callable[..., Any]
    implementation: Callable[..., Any]
    tools_changed: type
    troubles: tuple[type[Exception], ...]

    def client(self, transport: Any, heard: Callable[[Any], Any]) -> Any:
        info = self.implementation(name="agent-ls", version=__version__)
        return self.make_client(transport, message_handler=heard, client_info=info, cache=None)

    def said(self, error: BaseException) -> str:
        """In one short line; of a group, its first."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        text = " ".join(str(error).split())[:_LONGEST]
        return f"{type(error).__name__}: {text}" if text else type(error).__name__


async def sdk() -> Sdk:
    """Raises ImportError where the package is not installed."""
    return await to_thread.run_sync(_load)


@cache
def _load() -> Sdk:
    import httpx2
    import mcp_types
    from mcp import Client, MCPError
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.message import SessionMessage
    from pydantic import ValidationError

    troubles = (
        MCPError, OSError, TimeoutError, ValueError, ValidationError, httpx2.HTTPError, RuntimeError,
        anyio.ClosedResourceError, anyio.BrokenResourceError, ExceptionGroup,
    )  # fmt: skip
    return Sdk(
        make_client=Client,
        parse=lambda line: SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)),
        http_client=streamable_http_client,
        http_session=httpx2.AsyncClient,
        implementation=mcp_types.Implementation,
        tools_changed=mcp_types.ToolListChangedNotification,
        troubles=troubles,
    )
