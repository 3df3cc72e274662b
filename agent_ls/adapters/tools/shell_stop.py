"""shell_stop: ends a background shell with all that it has started.

Owns the tool's input. Nothing but what the agent itself began can be ended by it, so it is not asked for.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field

from agent_ls.adapters.tools.arguments import Arguments, parse, schema_of
from agent_ls.adapters.tools.file_input import digest_of, failed
from agent_ls.adapters.tools.shell_background import BackgroundShells
from agent_ls.adapters.tools.shell_output import unknown
from agent_ls.core.items import Call, ItemKind, ResultStatus, ToolResult
from agent_ls.core.messages import ToolSpec
from agent_ls.ports.tools import Invalid, Outcome, Prepared, Replay, ToolContext, ToolEffect

_DESCRIPTION: Final = "Ends a shell in the background with all that it has started."


class ShellStopInput(Arguments):
    id: str = Field(min_length=1, max_length=40, description="As shell said when it began")


class ShellStopTool:
    name = "shell_stop"
    kind = ItemKind.TOOL_CALL
    effect = ToolEffect.READ
    replay = Replay.SAFE

    def __init__(self, shells: BackgroundShells) -> None:
        self._shells = shells
        self._spec = ToolSpec(self.name, _DESCRIPTION, schema_of(ShellStopInput))

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        given = parse(ShellStopInput, arguments)
        if isinstance(given, Invalid):
            return given
        return Prepared(
            tool=self.name,
            input=dict(arguments),
            effect=self.effect,
            title=f"End {given.id}",
            digest=digest_of(tool=self.name, id=given.id),
            card={"type": "other", "tool": self.name, "id": given.id},
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        name = str(prepared.input["id"])
        kept = self._shells.find(name, context.conversation_id)
        if kept is None:
            return failed(unknown(name, self._shells.names(context.conversation_id)))
        await self._shells.stop(kept.item_id, "by shell_stop")
        return ToolResult(status=ResultStatus.OK, output=f"{kept.name} has ended.")

    async def recover(self, call: Call, context: ToolContext) -> Outcome:
        """One that has ended is not ended again."""
        return Outcome(None)
