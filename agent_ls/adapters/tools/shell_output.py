"""shell_output: what a background shell has said so far.

Owns the tool's input and how the state of the shell is put. Asking changes nothing: `after` says where to go on, so an
answer that was lost can be asked for again.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field

from agent_ls.adapters.tools.arguments import Arguments, parse, schema_of
from agent_ls.adapters.tools.file_input import digest_of, failed
from agent_ls.adapters.tools.shell_background import BackgroundShells, Kept
from agent_ls.core.items import Call, ItemKind, ResultStatus, ToolResult
from agent_ls.core.messages import ToolSpec
from agent_ls.ports.tools import Invalid, Outcome, Prepared, Replay, ToolContext, ToolEffect

_DESCRIPTION: Final = "Shows what a shell in the background has said, and whether it still runs."


class ShellOutputInput(Arguments):
    id: str = Field(min_length=1, max_length=40, description="As shell said when it began")
    after: int = Field(default=0, ge=0, description="Only what came after so many bytes")


class ShellOutputTool:
    name = "shell_output"
    kind = ItemKind.TOOL_CALL
    effect = ToolEffect.READ
    replay = Replay.SAFE

    def __init__(self, shells: BackgroundShells) -> None:
        self._shells = shells
        self._spec = ToolSpec(self.name, _DESCRIPTION, schema_of(ShellOutputInput))

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        given = parse(ShellOutputInput, arguments)
        if isinstance(given, Invalid):
            return given
        return Prepared(
            tool=self.name,
            input=dict(arguments),
            effect=self.effect,
            title=f"Output of {given.id}",
            digest=digest_of(tool=self.name, id=given.id, after=given.after),
            card={"type": "other", "tool": self.name, "id": given.id},
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        given = parse(ShellOutputInput, prepared.input)
        if isinstance(given, Invalid):
            return failed(given.message)
        kept = self._shells.find(given.id, context.conversation_id)
        if kept is None:
            return failed(unknown(given.id, self._shells.names(context.conversation_id)))
        said = kept.recording.since(given.after)
        border = "" if said.endswith("\n") or not said else "\n"
        return ToolResult(status=ResultStatus.OK, output=f"{said}{border}[{self._state(kept)}]")

    async def recover(self, call: Call, context: ToolContext) -> Outcome:
        return Outcome(None)

    def _state(self, kept: Kept) -> str:
        size = kept.recording.size
        if self._shells.running(kept.item_id) and kept.child.exit is None:
            return f"it runs; {size} bytes so far, go on with after={size}"
        return f"it has ended: {kept.how()}; {size} bytes in all"


def unknown(name: str, known: list[str]) -> str:
    there = f"There are {', '.join(known)}." if known else "There is none."
    return f"There is no background shell `{name[:40]}` in this conversation. {there}"
