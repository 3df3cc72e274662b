"""What a client sends, read without trust: any part of it may be missing or of another kind.

Owns how a part is looked up. What is wrong with it is for whoever needs it to say.
"""

from collections.abc import Mapping
from typing import Any


def pick(given: Any, *path: str) -> Any:
    """What stands at this place of nested objects; None where nothing does."""
    for name in path:
        given = given.get(name) if isinstance(given, Mapping) else None
    return given


def document_uri(params: Mapping[str, Any]) -> str | None:
    """Of the document that a request or a notification is about."""
    uri = pick(params, "textDocument", "uri")
    return uri if isinstance(uri, str) else None
