"""URIs of files, as text: from an editor's spelling to a local path and back.

Owns what counts as a local file and how its URI is spelled. Does not look at the disk: links, `..` behind links and
folding volumes are resolved by whoever has the disk (adapters.host.canonical).
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote_from_bytes, unquote_to_bytes

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?=[^\\\s])")
_BARE_SCHEMES = frozenset({"untitled", "vscode-notebook-cell", "vscode-remote", "vscode-vfs", "output", "git"})
_DRIVE = re.compile(r"/?([A-Za-z]):(?=/|$)")
# What RFC 3986 lets stand in a path segment, without what some editors always escape.
_SAFE = "-._~!$&'()*+,;=@"


@dataclass(frozen=True)
class NotLocal:
    """The URI is no file of this machine; `message` says so to whoever asked for it."""

    message: str


def scheme_of(spelling: str) -> str | None:
    """The scheme when the text is a URI, None when it is a path. A name like `a:b` is a path."""
    found = _SCHEME.match(spelling)
    if found is None:
        return None
    scheme = found[1].lower()
    rest = spelling[found.end() :]
    if scheme == "file" or rest.startswith("//") or scheme in _BARE_SCHEMES:
        return scheme
    return None


@lru_cache(maxsize=4096)  # asked many times in each step, of the same few
def local_path(uri: str) -> str | NotLocal:
    """The absolute path that a `file:` URI names, percent-escapes decoded once and segment by segment."""
    if scheme_of(uri) != "file" and not uri.lower().startswith("file:/"):
        return NotLocal(f"{uri} is not a local file; give the path of a file on this machine")
    rest = uri[len("file:") :]
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        if host.lower() not in {"", "localhost"}:
            return NotLocal(f"{uri} is on the host {host}, not a local file; give the path of a file on this machine")
        rest = slash + path
    if not rest.startswith("/"):
        return NotLocal(f"{uri} does not hold an absolute path; write file:///path")
    segments = [unquote_to_bytes(segment) for segment in rest.split("/")]
    if any(b"/" in segment or b"\0" in segment for segment in segments):
        return NotLocal(f"{uri} has an escaped slash or NUL in a name, and no file can have that")
    return _drive_folded(b"/".join(segments).decode("utf-8", "surrogateescape"))


def path_of(uri: str) -> str:
    """Of this machine; what names no file here stays as it is, and is no folder then."""
    path = local_path(uri)
    return path if isinstance(path, str) else uri


def file_uri(path: str) -> str:
    """The one spelling of an absolute path; bytes of names that are no UTF-8 survive."""
    drive = _DRIVE.match(path)
    if drive is not None:
        return f"file:///{drive[1].lower()}:{_escaped(path[drive.end() :])}"
    return "file://" + _escaped(path)


def key_without_disk(uri: str) -> str:
    """The lock key as far as text alone can tell; what is not a local file is keyed by its whole URI."""
    path = local_path(uri)
    return uri if isinstance(path, NotLocal) else file_uri(without_dots(path))


def without_dots(path: str) -> str:
    """`.`, `..` and doubled slashes taken out of an absolute path by text alone: wrong where `..` follows a link."""
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment not in {"", "."}:
            kept.append(segment)
    prefix = "" if kept and _DRIVE.fullmatch(kept[0]) else "/"
    return prefix + "/".join(kept)


def is_within(key: str, folder: str) -> bool:
    """Whether a canonical URI, or a real path, is the folder's or beneath it."""
    return key == folder or key.startswith(folder.rstrip("/") + "/")


def relative(path: str, root: str) -> str:
    """As a person writes it in this folder; what lies elsewhere stays whole. Paths, not URIs."""
    return path.removeprefix(root.rstrip("/") + "/")


def _escaped(path: str) -> str:
    return "/".join(
        quote_from_bytes(segment.encode("utf-8", "surrogateescape"), safe=_SAFE) for segment in path.split("/")
    )


def _drive_folded(path: str) -> str:
    drive = _DRIVE.match(path)
    return path if drive is None else f"{drive[1].lower()}:{path[drive.end() :]}"
