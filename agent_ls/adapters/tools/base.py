"""What our tools have in common: an input that is read by a model of it, and how that is told to a language model.

Owns that a call which only reads is simply made again after a crash. A tool says what it touches and what it does.
"""

from typing import ClassVar

from agent_ls.adapters.tools.arguments import Arguments, schema_of
from agent_ls.core.items import Call, ItemKind, ResultStatus, ToolResult
from agent_ls.core.messages import ToolSpec
from agent_ls.core.textfile import printable
from agent_ls.ports.tools import Replay, ToolContext, ToolEffect


class OurTool:
    """Only looks, unless it says otherwise. One whose `replay` is not SAFE finds out itself what became of a call."""

    name: str
    description: ClassVar[str]
    input: ClassVar[type[Arguments]]
    kind = ItemKind.TOOL_CALL
    effect = ToolEffect.READ
    replay = Replay.SAFE

    def __init__(self) -> None:
        self._spec = ToolSpec(self.name, self.description, schema_of(self.input))

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    async def recover(self, call: Call, context: ToolContext) -> ToolResult | None:
        return None


def failed(message: str) -> ToolResult:
    return ToolResult(status=ResultStatus.ERROR, output=printable(message))
