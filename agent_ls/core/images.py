"""Which image a file holds, by its first bytes.

Owns the formats that models take and the size they take. What a name promises counts only where the bytes break it.
"""

from dataclasses import dataclass

LARGEST = 5 * 1024 * 1024
_PROMISED = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".gif": "GIF", ".webp": "WebP"}


@dataclass(frozen=True)
class Pretender:
    """Named like an image, and is none. Servers refuse a whole conversation for one of these."""

    reason: str


def sniff(data: bytes, name: str) -> str | Pretender | None:
    """The MIME type of an image; None for what is no image and does not say that it is one."""
    found = _by_bytes(data)
    if found is not None:
        return found
    promised = next((kind for ending, kind in _PROMISED.items() if name.lower().endswith(ending)), None)
    if promised is None:
        return None
    return Pretender(f"is named like a {promised} image but {_instead(data)}; it was not shown")


def _by_bytes(data: bytes) -> str | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def _instead(data: bytes) -> str:
    if not data:
        return "is empty"
    start = data[:256].lstrip().lower()
    return "holds HTML or XML" if start.startswith((b"<!doctype", b"<html", b"<?xml")) else "does not begin like one"
