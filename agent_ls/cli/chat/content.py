"""What a person typed as the blocks of a message, with the files that they named by `@`.

Owns which words mean a file and how it is sent: by its place where the agent may read it, by its content where the
place lies outside of the workspace, as an image where it is one. Does not own what the model makes of it.
"""

import base64
import os
import re
from typing import Any, Final

from agent_ls.cli.places import path_uri

Json = dict[str, Any]
MENTION: Final = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|(\S+))')
LARGEST_TEXT: Final = 256 * 1024
LARGEST_IMAGE: Final = 5 * 1024 * 1024
_IMAGES: Final = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}


def blocks(text: str, workspace: str) -> tuple[list[Json], list[str]]:
    """(content of the message, sentences about files that could not be attached)."""
    content: list[Json] = [{"type": "text", "text": text}]
    trouble: list[str] = []
    for name in dict.fromkeys(_mentioned(text)):
        path = find(name, workspace)
        if path is None:
            continue
        block = _block(path, workspace)
        if isinstance(block, str):
            trouble.append(f"@{name} is not attached: {block}")
        else:
            content.append(block)
    return content, trouble


def find(name: str, workspace: str) -> str | None:
    """The file that a mention names, where there is one; a sentence's full stop is no part of a name."""
    for tried in (name, name.rstrip(".,;:!?)")):
        path = os.path.join(workspace, os.path.expanduser(tried))
        if tried and os.path.isfile(path):
            return path
    return None


def _mentioned(text: str) -> list[str]:
    return [quoted or plain for quoted, plain in MENTION.findall(text)]


def _block(path: str, workspace: str) -> Json | str:
    kind = _IMAGES.get(os.path.splitext(path)[1].lower())
    try:
        if kind is not None:
            data = _read(path, LARGEST_IMAGE)
            return data if isinstance(data, str) else {"type": "image", "mimeType": kind, "data": _base64(data)}
        if _inside(path, workspace):
            return {"type": "file", "uri": path_uri(path)}
        data = _read(path, LARGEST_TEXT)
        return data if isinstance(data, str) else {"type": "text", "text": f"{path}:\n\n{data.decode()}"}
    except UnicodeDecodeError:
        return "it is not text."
    except OSError as error:
        return f"{error.strerror}."


def _read(path: str, limit: int) -> bytes | str:
    with open(path, "rb") as file:
        data = file.read(limit + 1)
    return data if len(data) <= limit else f"it is larger than {limit // 1024} KB."


def _inside(path: str, workspace: str) -> bool:
    real, root = os.path.realpath(path), os.path.realpath(workspace)
    return real.startswith(root.rstrip(os.sep) + os.sep)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
