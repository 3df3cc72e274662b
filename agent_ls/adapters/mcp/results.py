"""What a server of tools answered, as the result of a call.

Owns which parts of an answer a model is shown and how much of them. A server is not trusted: what it says is text.
"""

import base64
import binascii
from collections.abc import Awaitable, Callable
from typing import Any, Final

from agent_ls.core.images import LARGEST, Pretender, sniff
from agent_ls.core.items import Block, ResultStatus, ToolResult
from agent_ls.core.textfile import printable

SHOWN: Final = 64 * 1024
MOST_IMAGES: Final = 8

Keep = Callable[[bytes], Awaitable[str]]


async def result_of(answer: Any, keep: Keep) -> ToolResult:
    """Of the SDK's CallToolResult. A long text is shown by its beginning and end, and kept whole."""
    texts: list[str] = []
    images: list[Block] = []
    for part in answer.content:
        match part.type:
            case "text":
                texts.append(part.text)
            case "image" if len(images) < MOST_IMAGES:
                image = _image(part.data)
                if isinstance(image, Block):
                    images.append(image)
                else:
                    texts.append(image)
            case "resource":
                texts.append(_resource(part.resource))
            case "resource_link":
                texts.append(f"[resource {part.uri}]")
            case other:
                texts.append(f"[{other} content, not shown]")
    text = printable("\n".join(texts))
    shown, blob = await _shortened(text, keep)
    status = ResultStatus.ERROR if answer.is_error else ResultStatus.OK
    return ToolResult(status=status, output=shown, blob=blob, images=tuple(images))


async def _shortened(text: str, keep: Keep) -> tuple[str, str | None]:
    if len(text) <= SHOWN:
        return text, None
    half = SHOWN // 2
    left_out = len(text) - 2 * half
    blob = await keep(text.encode("utf-8", "surrogatepass"))
    return f"{text[:half]}\n[… {left_out:,} characters left out …]\n{text[-half:]}", blob


def _image(data: str) -> Block | str:
    """What says that it is an image counts for nothing: a wrong one makes every later request fail."""
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return "[an image that cannot be read, not shown]"
    kind = sniff(content, "")
    if kind is None or isinstance(kind, Pretender):
        return "[an image of an unknown kind, not shown]"
    if len(content) > LARGEST:
        return f"[an image of {len(content):,} bytes, more than {LARGEST:,}, not shown]"
    return Block(type="image", mime_type=kind, data=base64.b64encode(content).decode("ascii"))


def _resource(resource: Any) -> str:
    text = getattr(resource, "text", None)
    return f"[resource {resource.uri}]" + ("" if text is None else f"\n{text}")
