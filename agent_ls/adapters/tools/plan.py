"""plan: what the agent wants to do, for the person to accept, change or refuse. Nothing runs: the answer is the result.

Owns the tool's input and its limits. The plan's item and what an answer does are core's (plans, plan_answers).
"""

from collections.abc import Mapping
from typing import Final

from pydantic import Field

from agent_ls.adapters.tools.arguments import Arguments, parse
from agent_ls.adapters.tools.base import OurTool, failed
from agent_ls.core import plans
from agent_ls.core.display import one_line
from agent_ls.core.items import ToolResult
from agent_ls.ports.tools import Invalid, Prepared, ToolContext

_DESCRIPTION: Final = (
    "Proposes a plan to the person, who accepts, changes or refuses it. Call it once you know what has to be done, "
    "with the whole plan: what is changed where, in which order, and how it is checked. An accepted plan is carried "
    "out in a run of its own."
)


class PlanInput(Arguments):
    markdown: str = Field(min_length=1, max_length=plans.LONGEST, description="The plan, complete")


class PlanTool(OurTool):
    name = "plan"
    description = _DESCRIPTION
    input = PlanInput

    async def prepare(self, arguments: Mapping[str, object], context: ToolContext) -> Prepared | Invalid:
        given = parse(PlanInput, arguments)
        if isinstance(given, Invalid):
            return given
        if not given.markdown.strip():
            return Invalid("the input does not fit: the plan is empty. Expected {markdown}")
        return Prepared(
            tool=self.name,
            input=dict(arguments),
            effect=self.effect,
            title=f"Plan: {one_line(_heading(given.markdown), 80)}",
            digest=plans.digest(given.markdown),
            card={"type": "other", "tool": self.name},
            plan=given.markdown,
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        return failed("only the person can accept a plan, and nobody was asked; propose it again")


def _heading(markdown: str) -> str:
    return next(line.strip().lstrip("#").strip() or line.strip() for line in markdown.splitlines() if line.strip())
