"""task: a part of the work for a subagent, with a context of its own. It is done by runtime.children.

Owns the tool's input and its limits. What a subagent is and what comes of it is core.delegation's.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field

from agent_ls.adapters.tools.arguments import Arguments, parse
from agent_ls.adapters.tools.base import OurTool, failed
from agent_ls.core.delegation import TASK, Wanted
from agent_ls.core.digests import digest_of
from agent_ls.core.display import one_line
from agent_ls.core.items import ToolResult
from agent_ls.ports.tools import Invalid, Prepared, ToolContext, ToolEffect

_DESCRIPTION: Final = (
    "Hands a part of the work to a subagent, which works in the same folder and knows nothing but the prompt: say all "
    "that it needs and what it should report. Its last message is the result. Several in one reply run side by side. "
    "For searches and parts that stand on their own, not for single steps."
)


class TaskInput(Arguments):
    description: str = Field(min_length=1, max_length=120, description="A few words for the person")
    prompt: str = Field(min_length=1, max_length=40_000)
    tools: list[str] | None = Field(default=None, max_length=100, description="Only these; none named: all of yours")
    model: str | None = Field(default=None, min_length=1, max_length=200)
    agent: str | None = Field(default=None, min_length=1, max_length=64, description="One of the named agents")


class TaskTool(OurTool):
    """`replay` is safe: a subagent has one id, so doing it again finds the one that is there and waits for it."""

    name = TASK
    description = _DESCRIPTION
    input = TaskInput
    effect = ToolEffect.DELEGATE

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        wanted = self.wanted(arguments)
        if isinstance(wanted, Invalid):
            return wanted
        return Prepared(
            tool=self.name,
            input=dict(arguments),
            effect=self.effect,
            title=f"Subagent: {one_line(wanted.task, 120)}",
            digest=digest_of(tool=self.name, given=dict(arguments)),
            card={"type": "other", "tool": self.name},
        )

    def wanted(self, given: Mapping[str, Any]) -> Wanted | Invalid:
        read = parse(TaskInput, given)
        if isinstance(read, Invalid):
            return read
        if not read.description.strip() or not read.prompt.strip():
            return Invalid("the input does not fit: description and prompt have to say something.")
        return Wanted(
            task=one_line(read.description.strip(), 120),
            prompt=read.prompt,
            tools=None if read.tools is None else tuple(read.tools),
            model=read.model,
            agent=read.agent,
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        return failed("a subagent is not started in this way")
