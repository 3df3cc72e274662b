"""ask: questions that only the person can answer. Nothing runs: the run waits, and the answer is the result.

Owns the tool's input and its limits. Asking, answering and what the model is told of it are core's (step, respond,
questions), so a question outlives the daemon that asked it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import Field

from agent_ls.adapters.tools.arguments import Arguments, parse, twice
from agent_ls.adapters.tools.base import OurTool, failed
from agent_ls.core.digests import digest_of
from agent_ls.core.display import one_line
from agent_ls.core.items import ToolResult
from agent_ls.ports.tools import Invalid, Prepared, ToolContext

_DESCRIPTION: Final = (
    "Asks the person and waits for the answer. Only for what you cannot find out and what changes what you do next: "
    "a choice of theirs, a fact that stands nowhere. Offer options where you can; free also takes their own words. "
    "Not for permission to run a tool: that is asked for by itself."
)


class Choice(Arguments):
    id: str = Field(min_length=1, max_length=64)
    label: str = Field(min_length=1, max_length=200)
    description: str | None = Field(default=None, max_length=1000)


class Asked(Arguments):
    id: str = Field(min_length=1, max_length=64, description="Short name, under which the answer comes back")
    header: str = Field(default="", max_length=60, description="One or two words")
    text: str = Field(min_length=1, max_length=2000, description="The question")
    options: list[Choice] = Field(default=[], max_length=12, description="None: the answer is free text")
    multi: bool = Field(default=False, description="Whether several options may be chosen")
    free: bool = Field(default=False, description="Whether the person may answer in their own words instead")


class AskInput(Arguments):
    questions: list[Asked] = Field(min_length=1, max_length=8)


class AskTool(OurTool):
    name = "ask"
    description = _DESCRIPTION
    input = AskInput

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        given = parse(AskInput, arguments)
        if isinstance(given, Invalid):
            return given
        if wrong := _wrong(given.questions):
            return Invalid(f"the input does not fit: {wrong}")
        questions = tuple(_plain(asked) for asked in given.questions)
        return Prepared(
            tool=self.name,
            input=dict(arguments),
            effect=self.effect,
            title=_title(given.questions),
            digest=digest_of(tool=self.name, questions=questions),
            card={"type": "other", "tool": self.name},
            questions=questions,
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        return failed("only the person can answer this, and nobody was asked; ask again")


def _wrong(questions: Sequence[Asked]) -> str | None:
    if again := twice([asked.id for asked in questions]):
        return f"two questions have the id `{again}`"
    for asked in questions:
        if not asked.text.strip():
            return f"the question `{asked.id}` has no text"
        if again := twice([option.id for option in asked.options]):
            return f"two options of `{asked.id}` have the id `{again}`"
        if any(not option.id.strip() or not option.label.strip() for option in asked.options):
            return f"an option of `{asked.id}` has no id or no label"
    return None


def _plain(asked: Asked) -> dict[str, Any]:
    plain = asked.model_dump(exclude_none=True)
    return plain | {"free": asked.free or not asked.options}


def _title(questions: Sequence[Asked]) -> str:
    heads = [one_line(asked.header or asked.text, 60) for asked in questions]
    return f"Question: {heads[0]}" if len(heads) == 1 else f"{len(heads)} questions: {', '.join(heads)}"
