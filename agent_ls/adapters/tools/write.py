"""write: a new file, or a whole new content for one that this conversation has read as it is.

Owns the tool's input and what of an existing file survives a rewrite: its encoding, its BOM, its line endings.
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
from agent_ls.core.items import Call, ItemKind, ToolResult
from agent_ls.core.textfile import TextFile, Unencodable, sha256
from agent_ls.ports.files import ABSENT, Files, Refused
from agent_ls.ports.tools import Invalid, Prepared, Replay, ToolContext, ToolEffect

_DESCRIPTION = (
    "Creates a file with its folders, or replaces the whole content of one that was read before. "
    "For a part of a file use edit."
)


class WriteInput(Arguments):
    path: str = Field(description="Absolute, or relative to the workspace")
    content: str = Field(description="The whole text of the file")


class WriteTool(OurTool):
    name = "write"
    description = _DESCRIPTION
    input = WriteInput
    kind = ItemKind.FILE_CHANGE
    effect = ToolEffect.EDIT
    replay = Replay.VERIFY

    def __init__(self, files: Files) -> None:
        super().__init__()
        self._files = files

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        given = parse(WriteInput, arguments)
        if isinstance(given, Invalid):
            return given
        change = await self._change(given, context)
        if isinstance(change, Invalid):
            return change
        opened = change.opened
        digest = digest_of(tool=self.name, uri=opened.place.uri, content=sha256(change.data), before=opened.digest)
        return prepared(self.name, change, context.root, arguments=dict(arguments), digest=digest)

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        given = parse(WriteInput, prepared.input)
        change = given if isinstance(given, Invalid) else await self._change(given, context)
        if isinstance(change, Invalid):
            return failed(change.message)
        elsewhere = moved(prepared, change.opened.place)
        if elsewhere is not None:
            return failed(elsewhere)
        if change.opened.digest != prepared.before:
            name = shown(change.opened.place.path, context.root)
            return failed(f"stale: {name} is not what it was when this was decided on; read it again")
        return await carry_out(self._files, change, context)

    async def recover(self, call: Call, context: ToolContext) -> ToolResult | None:
        return await find_out(self._files, call, context)

    def forget(self, item_id: str, spool: str) -> None:
        """To be called when the result is committed."""
        self._files.forget(item_id)

    async def _change(self, given: WriteInput, context: ToolContext) -> Change | Invalid:
        opened = await open_text(self._files, given.path, context.root)
        if isinstance(opened, Refused):
            return refuse(opened)
        place, file = opened.place, opened.file
        name = shown(place.path, context.root)
        created = opened.digest == ABSENT
        trouble = None if created else not_fresh(opened, context)
        if trouble is not None:
            return Invalid(trouble)
        data = _encoded(file, given.content)
        if isinstance(data, Unencodable):
            return Invalid(f"{name} was not written: {data.reason}")
        if not created and sha256(data) == opened.digest:
            return Invalid(f"{name} holds exactly that already; nothing would change")
        before, after = file.flat.text, file.flat.flatten(given.content)
        drawn = await to_thread.run_sync(lambda: diff.of_rewrite(before, after, name, created=created))
        if not drawn:
            drawn = _nothing_to_see(name, created=created)
        return Change(opened=opened, data=data, text=after, diff=drawn, said=_said(name, after, created=created))


def _encoded(file: TextFile, content: str) -> bytes | Unencodable:
    refused = file.check(content, file.text)
    if refused is not None:
        return refused
    if file.bom and content.startswith("\ufeff"):
        content = content[1:]
    # Models write \n; a file whose lines all end otherwise keeps that, unless the content says how it wants them.
    style = file.flat.style
    if style is not None and "\r" not in content:
        content = content.replace("\n", style)
    return file.bom + file.to_bytes(content)


def _nothing_to_see(name: str, *, created: bool) -> str:
    if created:
        return f"--- /dev/null\n+++ b/{name}\n\\ A new, empty file.\n"
    return f"--- a/{name}\n+++ b/{name}\n\\ Only line endings or the encoding of the file change.\n"


def _said(name: str, text: str, *, created: bool) -> str:
    lines = text.count("\n") + (1 if text and not text.endswith("\n") else 0)
    return f"{name}: {'created' if created else 'rewritten'}, {lines} {'line' if lines == 1 else 'lines'}."
