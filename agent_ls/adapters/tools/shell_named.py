"""What the tools have in common that are about one background shell: it is named, found, and nobody is asked.

Owns the way from a name to the shell. Nothing but what the agent itself began can be named. A tool says what it does.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from agent_ls.adapters.tools.arguments import Arguments, parse
from agent_ls.adapters.tools.base import OurTool, failed
from agent_ls.adapters.tools.shell_background import BackgroundShells, KeptShell
from agent_ls.core.digests import digest_of
from agent_ls.core.items import ToolResult
from agent_ls.ports.tools import Invalid, Prepared, ToolContext


class NamedShell(Arguments):
    id: str = Field(min_length=1, max_length=40, description="As shell said when it began")


class NamedShellTool(OurTool, ABC):
    """Asking again changes nothing, and one that has ended is not ended again."""

    verb: ClassVar[str]
    input = NamedShell

    def __init__(self, shells: BackgroundShells) -> None:
        super().__init__()
        self._shells = shells

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        given = parse(self.input, arguments)
        if isinstance(given, Invalid):
            return given
        return Prepared(
            tool=self.name,
            input=dict(arguments),
            effect=self.effect,
            title=f"{self.verb} {given.id}",
            digest=digest_of(tool=self.name, **given.model_dump()),
            card={"type": "other", "tool": self.name, "id": given.id},
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        given = parse(self.input, prepared.input)
        if isinstance(given, Invalid):
            return failed(given.message)
        kept = self._shells.find(given.id, context.conversation_id)
        if kept is None:
            return failed(_unknown(given.id, self._shells.names(context.conversation_id)))
        return await self._do(kept, given)

    @abstractmethod
    async def _do(self, kept: KeptShell, given: Any) -> ToolResult: ...


def _unknown(name: str, known: list[str]) -> str:
    there = f"There are {', '.join(known)}." if known else "There is none."
    return f"There is no background shell `{name[:40]}` in this conversation. {there}"
