"""What all dialects of the scripted model check or cut in the same way.

Owns names, ids, objects, pictures and the pieces of a stream. Knows no dialect.
"""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any, Final

NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
PICTURE: Final = re.compile(r"data:(image/(?:png|jpeg|gif|webp));base64,(.+)", re.DOTALL)
PICTURE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def pieces(text: str, size: int) -> list[str]:
    if not text:
        return []
    return [text[at : at + size] for at in range(0, len(text), size)] if size else [text]


def arguments_of(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def event(payload: dict[str, Any], *, named: bool = True) -> bytes:
    """One server-sent event; `named`: its type is also the name of the event."""
    name = f"event: {payload['type']}\n" if named else ""
    return f"{name}data: {json.dumps(payload, ensure_ascii=False)}\n\n".encode()


def sealed(text: str) -> str:
    """The seal that a server puts on thoughts. It follows from them, so that one changed letter is seen."""
    return "seal+/=" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def is_text(value: Any) -> bool:
    """Text that says something."""
    return isinstance(value, str) and bool(value.strip())


def is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def is_base64(data: Any) -> bool:
    try:
        return isinstance(data, str) and bool(base64.b64decode(data, validate=True))
    except binascii.Error:
        return False


def is_data_url(url: Any) -> bool:
    found = PICTURE.fullmatch(url) if isinstance(url, str) else None
    return found is not None and is_base64(found[2])


def unknown_keys(value: dict[str, Any], known: Iterable[str]) -> str | None:
    unknown = set(value) - set(known)
    return f"unrecognized request argument: {', '.join(sorted(unknown))}" if unknown else None


def tools_fault(tools: Any, schema: str) -> str | None:
    """`tools`: descriptions with a name and, under `schema`, what their arguments look like."""
    if tools is None:
        return None
    if not (isinstance(tools, list) and tools):
        return "tools is an empty array"
    names = set()
    for place, tool in enumerate(tools):
        name = tool.get("name") if isinstance(tool, dict) else None
        if not (isinstance(name, str) and NAME.fullmatch(name)) or name in names:
            return f"tools[{place}] has a bad or repeated name: {name!r}"
        names.add(name)
        parameters = tool.get(schema)
        if not (isinstance(parameters, dict) and parameters.get("type") == "object"):
            return f"tools[{place}].{schema} is not the schema of an object"
    return None
