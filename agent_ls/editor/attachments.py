"""Files that a message names, as they are in the moment it is sent: unsaved text included, images as images.

Owns what stands in the ledger for a `file` block and for a context item that came without its text. Does not own how a
file is read (ports.files) nor which text of several windows counts. No permission is asked: the person named the file.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from agent_ls.core.excerpt import Excerpt, excerpt
from agent_ls.core.images import LARGEST, Pretender, sniff
from agent_ls.core.items import Block, ContextItem
from agent_ls.core.text import Text
from agent_ls.core.textfile import Flat, NotText, decode, printable
from agent_ls.editor.documents import Documents, EditingWindow, Overlay
from agent_ls.ports.files import Files, Refused

LARGEST_FILE: Final = 10 * 1024 * 1024
FROM_DISK: Final = frozenset({"file", "selection"})

Range = Mapping[str, Any] | None


@dataclass(frozen=True)
class Message:
    content: tuple[Block, ...]
    context: tuple[ContextItem, ...]


class Attachments:
    """Of the messages that one window sends to one conversation; `root` is where that one works."""

    def __init__(self, files: Files, documents: Documents, *, window: EditingWindow, root: str) -> None:
        self._files = files
        self._documents = documents
        self._window = window
        self._root = root

    async def resolve(self, content: Sequence[Block], context: Sequence[ContextItem]) -> Message:
        """Each file once, whether it was named in the message or attached to it; what has its text keeps it."""
        blocks = list(content)
        items = [await self._filled(item) for item in context]
        held = {_place(item.uri, item.range) for item in items}
        for block in content:
            if block.type != "file" or block.uri is None or _place(block.uri, block.range) in held:
                continue
            held.add(_place(block.uri, block.range))
            found = await self._read(block.uri, block.range)
            if isinstance(found, Block):
                blocks.insert(blocks.index(block) + 1, found)
            else:
                items.append(ContextItem(type="file", uri=block.uri, range=block.range, text=found))
        return Message(tuple(blocks), tuple(items))

    async def _filled(self, item: ContextItem) -> ContextItem:
        if item.type not in FROM_DISK or item.uri is None or item.text is not None or item.data is not None:
            return item
        found = await self._read(item.uri, item.range)
        if isinstance(found, Block):
            return replace(item, text="(an image; attach it as one)")
        return replace(item, text=found)

    async def _read(self, uri: str, span: Range) -> str | Block:
        """The text with what the model has to know about it, an image, or why there is nothing."""
        copy = self._copy(uri, span)
        if copy is not None:
            note = f"unsaved text of your editor ({copy.window.client})" if copy.dirty else None
            return _told(Flat.of(str(copy.text)).text, span, [note], encoding=self._window.encoding)
        place = await self._files.locate(uri, self._root)
        if isinstance(place, Refused):
            return _missing(place.message)
        if not place.exists:
            return _missing(f"{place.path} does not exist")
        content = await self._files.read(place.path, LARGEST_FILE)
        if isinstance(content, Refused):
            return _missing(content.message)
        image = sniff(content.data, place.path)
        if isinstance(image, Pretender):
            return _missing(f"{place.path} {image.reason}")
        if image is not None:
            return _image(image, content.data)
        file = decode(content.data)
        if isinstance(file, NotText):
            return _missing(file.reason)
        notes = [content.note, file.label, place.note]
        return _told(file.flat.text, span, notes, encoding=self._window.encoding)

    def _copy(self, uri: str, span: Range) -> Overlay | None:
        """The window's own copy where that is what the person means. Of a clean one, the disk tells the whole."""
        copy = self._documents.of(self._window, uri)
        if copy is None or copy.lost:
            return None
        return copy if copy.dirty or span is not None or not copy.key.startswith("file:") else None


def _told(text: str, span: Range, notes: Sequence[str | None], *, encoding: str) -> str:
    if span is None:
        part = excerpt(text, offset=1, limit=None)
        said = part.notes
    else:
        part = excerpt(_cut(text, span, encoding), offset=1, limit=None)
        said = _shortened(part)
    known = [note for note in (*notes, *said) if note is not None]
    return (f"[{'; '.join(known)}]\n" if known else "") + part.text


def _shortened(part: Excerpt) -> tuple[str, ...]:
    """Lines of a range are not counted as those of its file."""
    if not part.notes:
        return ()
    return ("not all of it is here; read the file for the rest",) if part.total else ("nothing is selected",)


def _cut(text: str, span: Mapping[str, Any], encoding: str) -> str:
    held = Text(text, encoding)
    first, last = sorted((held.place(*_ends(span, "start")), held.place(*_ends(span, "end"))))
    lines = list(held.lines[first[0] : last[0] + 1])
    lines[-1] = lines[-1][: last[1]]
    lines[0] = lines[0][first[1] :]
    return "".join(lines)


def _ends(span: Mapping[str, Any], name: str) -> tuple[int, int]:
    match span.get(name):
        case {"line": int(line), "character": int(character)}:
            return line, character
        case _:
            return 0, 0


def _image(mime_type: str, data: bytes) -> str | Block:
    if len(data) > LARGEST:
        return _missing(f"an image of {len(data):,} bytes, more than {LARGEST:,}")
    return Block(type="image", mime_type=mime_type, data=base64.b64encode(data).decode("ascii"))


def _missing(why: str) -> str:
    return printable(f"(not attached: {why})")


def _place(uri: str | None, span: Range) -> tuple[str | None, str]:
    return uri, repr(span)
