"""edit: literal, unique, all-or-nothing replacements in a text file that this conversation has read.

Owns the tool's input and words. Matching is core.edits, the disk is ports.files.
"""

from collections.abc import Mapping
from typing import Any

from anyio import to_thread
from pydantic import Field

from agent_ls.adapters.tools.arguments import Arguments, parse
from agent_ls.adapters.tools.base import OurTool, failed
from agent_ls.adapters.tools.file_change import Change, carry_out, find_out, prepared
from agent_ls.adapters.tools.file_input import moved, not_fresh, open_text, refuse, shown
from agent_ls.core import diff
from agent_ls.core.digests import digest_of
from agent_ls.core.edits import Applied, Edit, Problem, apply, line_of, own_lines
from agent_ls.core.items import Call, ItemKind, ToolResult
from agent_ls.ports.files import ABSENT, Files, Refused
from agent_ls.ports.tools import Invalid, Prepared, Replay, ToolContext, ToolEffect

_DESCRIPTION = (
    "Replaces text in an existing file, which must have been read before. Every `old` is matched literally in the "
    "file as it is and must be there exactly once, unless `all` is set. All edits are made, or none. Line endings and "
    "encoding of the file are kept."
)


class Replacement(Arguments):
    old: str = Field(description="Text to replace, with enough lines around it to be unique")
    new: str = Field(description="Text that takes its place")
    all: bool = Field(default=False, description="Replace every occurrence")


class EditInput(Arguments):
    path: str = Field(description="Absolute, or relative to the workspace")
    edits: list[Replacement] = Field(min_length=1)


class EditTool(OurTool):
    name = "edit"
    description = _DESCRIPTION
    input = EditInput
    kind = ItemKind.FILE_CHANGE
    effect = ToolEffect.EDIT
    replay = Replay.VERIFY

    def __init__(self, files: Files) -> None:
        super().__init__()
        self._files = files

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        given = parse(EditInput, arguments)
        if isinstance(given, Invalid):
            return given
        change = await self._change(given, context)
        if isinstance(change, Invalid):
            return change
        return prepared(self.name, change, context.root, arguments=dict(arguments), digest=self._digest(given, change))

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        given = parse(EditInput, prepared.input)
        if isinstance(given, Invalid):
            return failed(given.message)
        change = await self._change(given, context)
        if isinstance(change, Invalid):
            return failed(change.message)
        elsewhere = moved(prepared, change.opened.place)
        if elsewhere is not None:
            return failed(elsewhere)
        if self._digest(given, change) != prepared.digest:
            name = shown(change.opened.place.path, context.root)
            return failed(f"stale: the lines of {name} that this replaces are not what was shown; read it again")
        return await carry_out(self._files, change, context)

    async def recover(self, call: Call, context: ToolContext) -> ToolResult | None:
        return await find_out(self._files, call, context)

    def forget(self, item_id: str, spool: str) -> None:
        """To be called when the result is committed."""
        self._files.forget(item_id)

    def _digest(self, given: EditInput, change: Change) -> str:
        """Bound to the lines that are shown, not to the rest of the file: that may move while the person reads."""
        edits = given.model_dump()["edits"]
        return digest_of(tool=self.name, uri=change.opened.place.uri, edits=edits, lines=change.own)

    async def _change(self, given: EditInput, context: ToolContext) -> Change | Invalid:
        opened = await open_text(self._files, given.path, context.root)
        if isinstance(opened, Refused):
            return refuse(opened)
        name = shown(opened.place.path, context.root)
        if opened.digest == ABSENT:
            return Invalid(f"{name} does not exist; use write to make a new file")
        trouble = not_fresh(opened, context)
        if trouble is not None:
            return Invalid(trouble)
        edits = [Edit(part.old, part.new, part.all) for part in given.edits]
        flat = opened.file.flat.text
        applied = await to_thread.run_sync(apply, opened.file, edits)
        if isinstance(applied, Problem):
            return Invalid(f"{name} was not changed: {applied.message}")
        drawn = await to_thread.run_sync(lambda: diff.of_edit(flat, applied.text, name, spans=applied.spans))
        own = tuple(own_lines(flat, applied.spans))
        said = _said(name, applied)
        return Change(opened=opened, data=applied.data, text=applied.text, diff=drawn, said=said, own=own)


def _said(name: str, applied: Applied) -> str:
    first, last = applied.spans[0], applied.spans[-1]
    shift = sum(len(span.new) - (span.end - span.start) for span in applied.spans[:-1])
    last_from = last.start + shift
    begin, end = line_of(applied.text, first.start), line_of(applied.text, last_from + len(last.new))
    count = len(applied.spans)
    lines = f"line {begin}" if begin == end else f"lines {begin} to {end}"
    return f"{name}: {count} {'place' if count == 1 else 'places'} replaced, {lines}."
