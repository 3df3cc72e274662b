"""Large payloads: kept as blobs, so that no entity on the wire is large; put back before a model is asked.

Owns the limits and the references (`blob:<digest>`). Does not own where blobs are kept (ledger).
"""

import base64
import json
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from agent_ls.core.context import attached
from agent_ls.core.items import BLOB_SCHEME, Block, Call, ContextItem, ToolResult
from agent_ls.core.messages import (
    AssistantTurn,
    CallPart,
    ModelMessage,
    Part,
    ReasoningPart,
    Reply,
    ResultPart,
    ResultsTurn,
    TextPart,
    UserTurn,
)

TEXT_LIMIT: Final = 64 * 1024
IMAGE_LIMIT: Final = 16 * 1024
INPUT_LIMIT: Final = 64 * 1024
CACHE_LIMIT: Final = 32 * 1024 * 1024

Keep = Callable[[bytes], Awaitable[str]]
Fetch = Callable[[str], Awaitable[bytes | None]]


async def shrink_blocks(blocks: Sequence[Block], keep: Keep) -> tuple[Block, ...]:
    """Images and long texts of a message as references; a text keeps its beginning for display."""
    return tuple([await _shrink_block(block, keep) for block in blocks])


async def shrink_result(result: ToolResult, keep: Keep) -> ToolResult:
    images = await shrink_blocks(result.images, keep)
    if len(result.output) <= TEXT_LIMIT:
        return replace(result, images=images)
    digest = await keep(result.output.encode())
    return replace(result, images=images, output=shortened(result.output), full=digest)


async def shrink_context(items: Sequence[ContextItem], keep: Keep) -> tuple[ContextItem, ...]:
    """What an editor attached; the blob holds it in the words in which the model is told."""
    return tuple([await _shrink_attached(item, keep) for item in items])


async def shrink_reply(reply: Reply, keep: Keep) -> Reply:
    """Long answers and thoughts as references. Calls shrink when they have been read (`shrink_call`)."""
    return replace(reply, parts=tuple([await _shrink_part(part, keep) for part in reply.parts]))


async def shrink_text(text: str, keep: Keep) -> TextPart:
    if len(text) <= TEXT_LIMIT:
        return TextPart(text)
    return TextPart(shortened(text), blob=await keep(text.encode("utf-8", "replace")))


async def shrink_call(call: Call, keep: Keep) -> Call:
    """A call whose input is large keeps it in a blob and shows the beginning of each long text."""
    whole = json.dumps(call.input, ensure_ascii=False)
    if len(whole) <= INPUT_LIMIT:
        return call
    return replace(call, input=_shorten(call.input), input_blob=await keep(whole.encode()))


def shorten_call(call: Call) -> Call:
    """A call that makes no sense is never run and never seen whole again: its beginning is enough for everybody."""
    whole = json.dumps(call.input, ensure_ascii=False)
    return call if len(whole) <= INPUT_LIMIT else replace(call, input=_shorten(call.input))


async def whole_input(call: Call, fetch: Fetch) -> dict[str, Any] | None:
    """The input as the model gave it; None if its blob is gone."""
    if call.input_blob is None:
        return call.input
    content = await fetch(call.input_blob)
    if content is None:
        return None
    found: dict[str, Any] = json.loads(content)
    return found


class Inflater:
    """Puts blobs back into messages. Keeps the newest in memory, since each step sends them again."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._known: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0

    async def inflate(self, messages: Sequence[ModelMessage]) -> tuple[ModelMessage, ...]:
        return tuple([await self._message(message) for message in messages])

    async def _message(self, message: ModelMessage) -> ModelMessage:
        match message:
            case UserTurn(content=content) if any(_is_reference(block) for block in content):
                return UserTurn(tuple([await self._block(block) for block in content]))
            case AssistantTurn(parts=parts) if any(part.blob for part in parts):
                return AssistantTurn(tuple([await self._part(part) for part in parts]))
            case ResultsTurn(results=results) if any(result.blob or result.images for result in results):
                return ResultsTurn(tuple([await self._result(result) for result in results]))
            case _:
                return message

    async def _part(self, part: Part) -> Part:
        content = await self._get(part.blob) if part.blob else None
        if content is None:
            return replace(part, blob=None)
        match part:
            case TextPart():
                return TextPart(content.decode())
            case ReasoningPart():
                return ReasoningPart(part.text, json.loads(content))
            case CallPart():
                return replace(part, arguments=content.decode(), blob=None)

    async def _result(self, part: ResultPart) -> ResultPart:
        images = tuple([await self._block(block) for block in part.images])
        content = await self._get(part.blob) if part.blob else None
        text = part.text if content is None else part.prefix + content.decode()
        return replace(part, images=tuple(b for b in images if b.data), text=text, blob=None)

    async def _block(self, block: Block) -> Block:
        if not _is_reference(block):
            return block
        content = await self._get((block.uri or "").removeprefix(BLOB_SCHEME))
        if content is None:
            return Block(type="text", text=block.text or "(this attachment is no longer there)")
        if block.type == "image":
            return replace(block, data=base64.b64encode(content).decode(), uri=None)
        return replace(block, text=content.decode(), uri=None)

    async def _get(self, digest: str) -> bytes | None:
        known = self._known.get(digest)
        if known is not None:
            self._known.move_to_end(digest)
            return known
        content = await self._fetch(digest)
        if content is not None and len(content) <= CACHE_LIMIT // 4:
            self._known[digest] = content
            self._size += len(content)
            while self._size > CACHE_LIMIT:
                self._size -= len(self._known.popitem(last=False)[1])
        return content


def shortened(text: str) -> str:
    """Beginning and end, and how much is left out."""
    cut = len(text) - TEXT_LIMIT // 2
    half = TEXT_LIMIT // 4
    return f"{text[:half]}\n… ({cut:,} characters are not shown here) …\n{text[-half:]}"


async def _shrink_part(part: Part, keep: Keep) -> Part:
    match part:
        case TextPart():
            return await shrink_text(part.text, keep)
        case ReasoningPart(text=text, raw=raw) if len(text) > TEXT_LIMIT:
            digest = await keep(json.dumps(raw).encode()) if raw is not None else None
            return ReasoningPart(shortened(text), blob=digest)
        case _:
            return part


async def _shrink_attached(item: ContextItem, keep: Keep) -> ContextItem:
    whole = attached(item)
    if len(whole) <= TEXT_LIMIT:
        return item
    digest = await keep(whole.encode())
    return replace(item, text=shortened(whole), data=None, blob=digest)


async def _shrink_block(block: Block, keep: Keep) -> Block:
    if block.type == "image" and block.data is not None and len(block.data) > IMAGE_LIMIT:
        digest = await keep(base64.b64decode(block.data))
        return replace(block, data=None, uri=BLOB_SCHEME + digest)
    if block.type == "text" and block.text is not None and len(block.text) > TEXT_LIMIT:
        digest = await keep(block.text.encode())
        return replace(block, text=shortened(block.text), uri=BLOB_SCHEME + digest)
    return block


def _is_reference(block: Block) -> bool:
    return block.uri is not None and block.uri.startswith(BLOB_SCHEME)


def is_shortened(value: Any) -> bool:
    """Whether something in it was cut for display."""
    match value:
        case str():
            return _CUT.search(value) is not None
        case dict():
            return any(map(is_shortened, value.values()))
        case list():
            return any(map(is_shortened, value))
        case _:
            return False


_CUT: Final = re.compile(r"\n… \([0-9,]+ more characters\)\Z")


def _shorten(value: Any) -> Any:
    match value:
        case str() if len(value) > 4096:
            return f"{value[:2048]}\n… ({len(value) - 2048:,} more characters)"
        case dict():
            return {key[:200]: _shorten(held) for key, held in islice(value.items(), 200)}
        case list():
            return [_shorten(held) for held in value[:200]]
        case _:
            return value
