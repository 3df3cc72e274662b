"""todo: the steps of the run, for the person to follow.

Owns the tool's input and its one line of result. The list itself is an item of the run (core.todo).
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field

from agent_ls.adapters.tools.arguments import Arguments, parse
from agent_ls.adapters.tools.base import OurTool, failed
from agent_ls.core.digests import digest_of
from agent_ls.core.items import ResultStatus, ToolResult
from agent_ls.core.todo import STEPS
from agent_ls.ports.tools import Invalid, Prepared, ToolContext

_DESCRIPTION: Final = (
    "Shows the person what you are going to do and how far you are. Give all steps each time: the list is replaced. "
    "For work of three steps and more; keep one step active, and set it to done when it is."
)


class Step(Arguments):
    text: str = Field(min_length=1, max_length=500)
    status: Literal["pending", "active", "done"]


class TodoInput(Arguments):
    steps: list[Step] = Field(max_length=100)


class TodoTool(OurTool):
    name = "todo"
    description = _DESCRIPTION
    input = TodoInput

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        given = parse(TodoInput, arguments)
        if isinstance(given, Invalid):
            return given
        if not all(step.text.strip() for step in given.steps):
            return Invalid("the input does not fit: a step without text. Expected {steps: [{text, status}]}")
        return Prepared(
            tool=self.name,
            input=dict(arguments),
            effect=self.effect,
            title="Steps",
            digest=digest_of(tool=self.name, steps=_plain(given)),
            card={"type": "other", "tool": self.name},
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        given = parse(TodoInput, prepared.input)
        if isinstance(given, Invalid):
            return failed(given.message)
        return ToolResult(status=ResultStatus.OK, output=_said(given), data={STEPS: _plain(given)})


def _plain(given: TodoInput) -> list[dict[str, str]]:
    return [{"text": step.text, "status": step.status} for step in given.steps]


def _said(given: TodoInput) -> str:
    counts = Counter(step.status for step in given.steps)
    number = len(given.steps)
    return f"{number} step{'' if number == 1 else 's'}: " + ", ".join(
        f"{counts[status]} {status}" for status in ("done", "active", "pending")
    )
