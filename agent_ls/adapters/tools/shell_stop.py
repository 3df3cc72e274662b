"""shell_stop: ends a background shell with all that it has started. It is not asked for: the agent began it."""

from agent_ls.adapters.tools.shell_background import Kept
from agent_ls.adapters.tools.shell_named import NamedShell, NamedShellTool
from agent_ls.core.items import ResultStatus, ToolResult


class ShellStopTool(NamedShellTool):
    name = "shell_stop"
    description = "Ends a shell in the background with all that it has started."
    verb = "End"

    async def _do(self, kept: Kept, given: NamedShell) -> ToolResult:
        await self._shells.stop(kept.item_id, "by shell_stop")
        return ToolResult(status=ResultStatus.OK, output=f"{kept.name} has ended.")
