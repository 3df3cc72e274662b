"""read: a text file in pieces, or an image, as the person sees it.

Owns the tool's input, its limits and what it says about what it left out. What was read is told by hash.
"""

import base64
from collections.abc import Mapping
from functools import partial
from typing import Any

from anyio import to_thread
from pydantic import Field

from agent_ls.adapters.tools.arguments import Arguments, parse
from agent_ls.adapters.tools.base import OurTool, failed
from agent_ls.adapters.tools.file_input import AT_ONCE, LARGEST_FILE, moved, refuse, shown
from agent_ls.core.digests import digest_of
from agent_ls.core.excerpt import excerpt
from agent_ls.core.images import LARGEST, Pretender, sniff
from agent_ls.core.items import Block, ResultStatus, ToolResult
from agent_ls.core.textfile import NotText, decode
from agent_ls.ports.files import Content, Files, Place, Refused
from agent_ls.ports.tools import Invalid, Prepared, ToolContext

_DESCRIPTION = (
    "Reads a file: text (up to 2,000 lines or 256 KiB a call; go on with offset) or an image (png, jpeg, gif, webp). "
    "A first line in square brackets is a note about the file, not a part of it."
)


class ReadInput(Arguments):
    path: str = Field(description="Absolute, or relative to the workspace")
    offset: int | None = Field(default=None, ge=1, description="First line to read, counted from 1")
    limit: int | None = Field(default=None, ge=1, description="How many lines")


class ReadTool(OurTool):
    name = "read"
    description = _DESCRIPTION
    input = ReadInput

    def __init__(self, files: Files) -> None:
        super().__init__()
        self._files = files

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        given = parse(ReadInput, arguments)
        if isinstance(given, Invalid):
            return given
        place = await self._files.locate(given.path, context.root)
        if isinstance(place, Refused):
            return refuse(place)
        name = shown(place.path, context.root)
        if not place.exists:
            return Invalid(f"{name} does not exist; check the path")
        return Prepared(
            tool=self.name,
            input=dict(arguments),
            effect=self.effect,
            title=f"Read {name}",
            digest=digest_of(tool=self.name, uri=place.uri, offset=given.offset, limit=given.limit),
            card={"type": "other", "tool": self.name, "uri": place.uri, "path": name},
            reads=place.paths,
            uri=place.uri,
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        given = parse(ReadInput, prepared.input)
        if isinstance(given, Invalid):
            return failed(given.message)
        found = await self._files.find(given.path, context.root, LARGEST_FILE)
        if isinstance(found, Refused):
            return failed(refuse(found).message)
        elsewhere = moved(prepared, found.place)
        if elsewhere is not None:
            return failed(elsewhere)
        if isinstance(found.content, Refused):
            return failed(refuse(found.content).message)
        show = partial(_shown, given, found.place, found.content, context=context)
        # What is small is decoded and cut sooner than a thread is found for it.
        return show() if len(found.content.data) <= AT_ONCE else await to_thread.run_sync(show)


def _shown(given: ReadInput, place: Place, content: Content, *, context: ToolContext) -> ToolResult:
    name = shown(place.path, context.root)
    facts = {"uri": place.uri, "hash": content.digest}
    image = sniff(content.data, name)
    if isinstance(image, Pretender):
        return failed(f"{name} {image.reason}")
    if image is not None:
        return _image(name, image, content.data, facts=facts)
    file = decode(content.data)
    if isinstance(file, NotText):
        return failed(f"{name} is not shown: {file.reason}; use shell to look into it")
    part = excerpt(file.flat.text, offset=given.offset or 1, limit=given.limit)
    if part.beyond:
        return failed(f"{name} has {part.total} lines, so there is no line {given.offset}; use a smaller offset")
    notes = [note for note in (content.note, file.label, place.note, *part.notes) if note is not None]
    header = f"[{'; '.join(notes)}]\n" if notes else ""
    return ToolResult(status=ResultStatus.OK, output=header + part.text, data=facts)


def _image(name: str, mime_type: str, data: bytes, *, facts: dict[str, Any]) -> ToolResult:
    if len(data) > LARGEST:
        return failed(f"{name} is an image of {len(data):,} bytes, more than {LARGEST:,}; make it smaller first")
    block = Block(type="image", mime_type=mime_type, data=base64.b64encode(data).decode("ascii"))
    output = f"[{name}: {mime_type}, {len(data):,} bytes]"
    return ToolResult(status=ResultStatus.OK, output=output, images=(block,), data=facts)
