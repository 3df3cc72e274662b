"""shell_output: what a background shell has said so far.

Owns the tool's input and how the state of the shell is put. Asking changes nothing: `after` says where to go on, so an
answer that was lost can be asked for again.
"""

from pydantic import Field

from agent_ls.adapters.tools.shell_background import KeptShell
from agent_ls.adapters.tools.shell_named import NamedShell, NamedShellTool
from agent_ls.core.items import ResultStatus, ToolResult


class ShellOutputInput(NamedShell):
    after: int = Field(default=0, ge=0, description="Only what came after so many bytes")


class ShellOutputTool(NamedShellTool):
    name = "shell_output"
    description = "Shows what a shell in the background has said, and whether it still runs."
    verb = "Output of"
    input = ShellOutputInput

    async def _do(self, kept: KeptShell, given: ShellOutputInput) -> ToolResult:
        said = kept.recording.since(given.after)
        border = "" if said.endswith("\n") or not said else "\n"
        return ToolResult(status=ResultStatus.OK, output=f"{said}{border}[{self._state(kept)}]")

    def _state(self, kept: KeptShell) -> str:
        size = kept.recording.size
        if self._shells.running(kept.item_id) and kept.child.exit is None:
            return f"it runs; {size} bytes so far, go on with after={size}"
        return f"it has ended: {kept.how()}; {size} bytes in all"
