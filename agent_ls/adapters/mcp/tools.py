"""Tools of MCP servers as the loop sees them: one for each that a server offers, and one that starts a server.

Owns the card, the digest and the lock of such a call. Does not own whether it may run (core.policy). Nobody knows what
a foreign tool touches, so it takes the whole workspace and is never run twice by itself.
"""

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from agent_ls.adapters.mcp.link import Gone, Offered, ServerLink
from agent_ls.adapters.mcp.results import result_of
from agent_ls.core.digests import digest_of
from agent_ls.core.items import Call, ItemKind, ResultStatus, ToolResult
from agent_ls.core.messages import ToolSpec
from agent_ls.core.nesting import too_deep
from agent_ls.core.textfile import printable
from agent_ls.core.tool_server import ToolServer, tool_name
from agent_ls.core.uris import file_uri
from agent_ls.ports.tools import Invalid, Prepared, Replay, ToolContext, ToolEffect

LONGEST_DESCRIPTION: Final = 4_000
LARGEST_SCHEMA: Final = 32 * 1024
_KEY: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_NOTHING: Final[dict[str, Any]] = {"type": "object", "properties": {}}

Allow = Callable[[str, ToolServer], Awaitable[ServerLink]]
"""Starts a server for a workspace's root; its link, once the first try has ended."""


class McpTool:
    kind = ItemKind.TOOL_CALL
    effect = ToolEffect.OTHER
    replay = Replay.ASK

    def __init__(self, link: ServerLink, told: Offered) -> None:
        self.name = tool_name(link.server.name, told.name)
        self._link = link
        self._told = told
        description = printable(told.description[:LONGEST_DESCRIPTION]) or f"{told.name}, of {link.server.name}."
        self._spec = ToolSpec(self.name, description, told.schema if _is_taken(told.schema) else _NOTHING)

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        server = self._link.server
        return Prepared(
            tool=self.name,
            input=dict(arguments),
            effect=self.effect,
            title=f"{server.name}: {printable(self._told.name)}",
            digest=digest_of(tool=self.name, server=server.digest, input=dict(arguments)),
            card={"type": "other", "tool": self.name, "server": server.name, "input": dict(arguments)},
            keys=(file_uri(context.root),),
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        answer = await self._link.call(self._told.name, prepared.input)
        if isinstance(answer, Gone):
            return ToolResult(status=ResultStatus.ERROR, output=printable(answer.reason))
        return await result_of(answer, context.keep)

    async def recover(self, call: Call, context: ToolContext) -> ToolResult | None:
        said = f"The daemon ended while MCP server `{self._link.server.name}` was asked; what came of it is not known."
        return ToolResult(status=ResultStatus.UNKNOWN, output=said)


def _is_taken(schema: Mapping[str, Any]) -> bool:
    """Whether every model's server takes it: one that is refused makes every request of the conversation fail."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if schema.get("type") != "object" or not isinstance(properties, dict) or not isinstance(required, list):
        return False
    if not all(_KEY.fullmatch(str(name)) and isinstance(held, dict | bool) for name, held in properties.items()):
        return False
    if not all(isinstance(name, str) for name in required) or too_deep(dict(schema)):
        return False
    return len(json.dumps(schema, ensure_ascii=False)) <= LARGEST_SCHEMA


class StartServerTool:
    """Starts a server that came with the workspace, once a person has allowed exactly this definition."""

    kind = ItemKind.TOOL_CALL
    effect = ToolEffect.OTHER
    replay = Replay.SAFE

    def __init__(self, server: ToolServer, allow: Allow) -> None:
        self.name = tool_name(server.name, "start")
        self._server = server
        self._allow = allow
        description = (
            f"Starts the MCP server `{server.name}` of this workspace's {server.origin.rpartition('/')[2]}; the person "
            "is asked first. Its tools are there from your next step on."
        )
        self._spec = ToolSpec(self.name, description, _NOTHING)

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        server = self._server
        shown = {"command" if server.command else "url": server.shown, "origin": server.origin}
        names = {"environment": sorted(server.env), "headers": sorted(server.headers)}
        return Prepared(
            tool=self.name,
            input={},
            effect=self.effect,
            title=f"Start MCP server {server.name}: {printable(server.shown)}",
            digest=digest_of(tool=self.name, server=server.digest, input={}),
            card={"type": "other", "tool": self.name, "server": server.name, **shown, **names},
            # A rule, and a mode, were chosen before anybody had seen this definition.
            asks="servers that a workspace brings",
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        link = await self._allow(context.root, self._server)
        if not link.up:
            said = f"MCP server `{self._server.name}` is {link.state}"
            return ToolResult(status=ResultStatus.ERROR, output=printable(said))
        names = ", ".join(tool_name(self._server.name, told.name) for told in link.tools)
        return ToolResult(status=ResultStatus.OK, output=f"It is up. Its tools: {names}")

    async def recover(self, call: Call, context: ToolContext) -> ToolResult | None:
        """It was allowed and a new daemon has not started it: it is started."""
        return None
