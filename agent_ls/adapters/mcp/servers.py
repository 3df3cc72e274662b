"""Which servers of tools (MCP) run for which workspace, and the tools that they bring.

Owns one link for each server and workspace: started when the workspace is first worked in, let go when nobody has for
a while, replaced when its definition is another one. Does not own the definitions (config.mcp).
"""

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from agent_ls.adapters.mcp.link import ServerLink
from agent_ls.adapters.mcp.tools import McpTool, StartServerTool
from agent_ls.core.tool_server import ToolServer
from agent_ls.ports.host import Clock
from agent_ls.ports.tools import Tool

FIRST_WAIT_S: Final = 10.0
ALLOWED_WAIT_S: Final = 30.0
IDLE_S: Final = 1_800.0


@dataclass
class _Workspace:
    links: dict[str, ServerLink] = field(default_factory=dict)
    allowed: dict[str, str] = field(default_factory=dict)
    waiting: tuple[ToolServer, ...] = ()
    used_at: float = 0.0


class Servers:
    """`definitions` gives what holds for a root now, without waiting; those `from_workspace` wait for a person."""

    def __init__(
        self,
        definitions: Callable[[str], Sequence[ToolServer]],
        environment: Callable[[str], Mapping[str, str]],
        *,
        start: Callable[[str, Callable[[], Awaitable[None]]], object],
        clock: Clock,
    ) -> None:
        self._definitions = definitions
        self._environment = environment
        self._start = start
        self._clock = clock
        self._workspaces: dict[str, _Workspace] = {}

    async def open(self, root: str) -> None:
        """Starts what this workspace has and is not there; waits a moment for a first start, and never again for it."""
        wanted = self._definitions(root)
        if not wanted and root not in self._workspaces:
            return
        self._let_go()
        workspace = self._workspaces.setdefault(root, _Workspace())
        workspace.used_at = self._clock.monotonic()
        fresh = self._match(root, workspace, wanted)
        with anyio.move_on_after(FIRST_WAIT_S):
            for link in fresh:
                await link.settled()

    def tools(self, root: str) -> Mapping[str, Tool]:
        """All that the workspace's servers have offered; those of a server that is down answer with that."""
        return {tool.name: tool for tool in self._tools(root, lambda link: True)}

    def offered(self, root: str) -> Sequence[Tool]:
        """Those that a model is told of: of servers that are up."""
        return self._tools(root, lambda link: link.up)

    def status(self) -> list[dict[str, Any]]:
        return [
            {
                "name": link.server.name,
                "workspace": root,
                "state": link.state,
                "tools": len(link.tools),
                "starts": link.starts,
                "lastEnd": link.last_end,
            }
            for root, workspace in self._workspaces.items()
            for link in workspace.links.values()
        ]

    def _tools(self, root: str, counts: Callable[[ServerLink], bool]) -> list[Tool]:
        workspace = self._workspaces.get(root, _Workspace())
        links = [link for link in workspace.links.values() if counts(link)]
        found: list[Tool] = [McpTool(link, tool) for link in links for tool in link.tools]
        found += [StartServerTool(server, self._allow) for server in workspace.waiting]
        # `a` with its tool `b__c` and `a__b` with its tool `c` have one name: the first has it.
        first: dict[str, Tool] = {}
        for tool in found:
            first.setdefault(tool.name, tool)
        return list(first.values())

    async def _allow(self, root: str, server: ToolServer) -> ServerLink:
        workspace = self._workspaces.setdefault(root, _Workspace())
        workspace.allowed[server.name] = server.digest
        workspace.used_at = self._clock.monotonic()
        workspace.waiting = tuple(each for each in workspace.waiting if each.name != server.name)
        link = workspace.links.get(server.name)
        if link is None or link.server.digest != server.digest:
            link = self._begin(root, workspace, server)
        with anyio.move_on_after(ALLOWED_WAIT_S):
            await link.settled()
        return link

    def _match(self, root: str, workspace: _Workspace, wanted: Iterable[ToolServer]) -> list[ServerLink]:
        """What is defined runs, what is not defined any more ends. The links that have just been started."""
        known = {server.name: server for server in wanted}
        for name in [name for name, link in workspace.links.items() if _other(link, known.get(name))]:
            workspace.links.pop(name).end()
        waiting = [s for s in known.values() if s.from_workspace and workspace.allowed.get(s.name) != s.digest]
        workspace.waiting = tuple(waiting)
        missing = [s for s in known.values() if s not in waiting and s.name not in workspace.links]
        return [self._begin(root, workspace, server) for server in missing]

    def _begin(self, root: str, workspace: _Workspace, server: ToolServer) -> ServerLink:
        folder = root if os.path.isdir(root) else "/"
        link = ServerLink(server, folder=folder, environment=self._environment(root), clock=self._clock)
        before = workspace.links.get(server.name)
        if before is not None:
            before.end()
        workspace.links[server.name] = link
        self._start(f"mcp {server.name}", link.run)
        return link

    def _let_go(self) -> None:
        old = self._clock.monotonic() - IDLE_S
        for root in [root for root, workspace in self._workspaces.items() if workspace.used_at < old]:
            for link in self._workspaces.pop(root).links.values():
                link.end()


def _other(link: ServerLink, wanted: ToolServer | None) -> bool:
    return wanted is None or wanted.digest != link.server.digest
