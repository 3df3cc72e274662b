"""shell_stop: ends a background shell with all that it has started. It is not asked for: the agent began it.

In mode plan, and where a workspace is not trusted, it is refused: whatever ends was at work.
"""

from agent_ls.adapters.tools.shell_background import KeptShell
from agent_ls.adapters.tools.shell_named import NamedShell, NamedShellTool
from agent_ls.core.items import ResultStatus, ToolResult
from agent_ls.ports.tools import ToolEffect


class ShellStopTool(NamedShellTool):
    name = "shell_stop"
    description = "Ends a shell in the background with all that it has started."
    verb = "End"
    effect = ToolEffect.OWN

    async def _do(self, kept: KeptShell, given: NamedShell) -> ToolResult:
        await self._shells.stop(kept.item_id, "by shell_stop")
        return ToolResult(status=ResultStatus.OK, output=f"{kept.name} has ended.")
