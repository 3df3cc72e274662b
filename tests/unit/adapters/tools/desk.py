"""A conversation that uses the file tools on a real disk, and remembers what it has seen.

Does not approve or lock anything; that is the runtime's.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_ls.adapters.host.files import DiskFiles
from agent_ls.adapters.host.processes import LocalProcesses
from agent_ls.adapters.tools.apply_patch import ApplyPatchTool
from agent_ls.adapters.tools.edit import EditTool
from agent_ls.adapters.tools.glob import GlobTool
from agent_ls.adapters.tools.grep import GrepTool
from agent_ls.adapters.tools.read import ReadTool
from agent_ls.adapters.tools.search import SECONDS, Searcher
from agent_ls.adapters.tools.write import WriteTool
from agent_ls.core.items import Call, CallState, ToolResult
from agent_ls.core.unread import Unread
from agent_ls.ports.tools import Invalid, Prepared, Tool, ToolContext


def call_of(prepared: Prepared) -> Call:
    """As it is on record when its daemon ends in the middle of it."""
    return Call(
        call_id="c",
        tool=prepared.tool,
        input=prepared.input,
        state=CallState.STARTED,
        uri=prepared.uri,
        before=prepared.before,
        after=prepared.after,
    )


async def _keep(data: bytes) -> str:
    raise AssertionError("file tools keep no blobs")


@dataclass
class Desk:
    """`seen` grows with every result, as the ledger's does. `path` is where programs are found."""

    root: Path
    seen: dict[str, str] = field(default_factory=dict)
    path: str = "/nowhere"
    unread: Unread = field(default_factory=Unread)
    seconds: float = SECONDS

    def __post_init__(self) -> None:
        files, searcher = DiskFiles(), Searcher(LocalProcesses(), seconds=self.seconds)
        tools = (
            ReadTool(files),
            WriteTool(files),
            EditTool(files),
            ApplyPatchTool(files),
            GlobTool(files, searcher),
            GrepTool(files, searcher),
        )
        self.tools: dict[str, Tool] = {tool.name: tool for tool in tools}

    @property
    def context(self) -> ToolContext:
        root = os.path.realpath(self.root)
        return ToolContext(
            conversation_id="c",
            item_id="i",
            root=root,
            cwd=root,
            environment={"PATH": self.path},
            seen=dict(self.seen),
            spool=root,
            emit=lambda text: None,
            keep=_keep,
            unread=lambda: self.unread,
        )

    async def prepare(self, tool: str, **arguments: Any) -> Prepared | Invalid:
        return await self.tools[tool].prepare(arguments, self.context)

    async def prepared(self, tool: str, **arguments: Any) -> Prepared:
        prepared = await self.prepare(tool, **arguments)
        assert isinstance(prepared, Prepared), prepared
        return prepared

    async def refused(self, tool: str, **arguments: Any) -> str:
        prepared = await self.prepare(tool, **arguments)
        assert isinstance(prepared, Invalid), prepared
        return prepared.message

    async def run(self, prepared: Prepared) -> ToolResult:
        result = await self.tools[prepared.tool].run(prepared, self.context)
        if result.data is not None and "hash" in result.data:
            self.seen[result.data["uri"]] = result.data["hash"]
        return result

    async def use(self, tool: str, **arguments: Any) -> ToolResult:
        return await self.run(await self.prepared(tool, **arguments))
