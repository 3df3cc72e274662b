"""Reads one TOML file: a regular file of bounded size, or a sentence that says where it is broken.

Owns opening, size, encoding and syntax. Does not own the meaning of keys (options, workspace).
"""

import os
import re
import stat
import tomllib
from dataclasses import dataclass
from typing import Any, Final

LARGEST_FILE: Final = 1024 * 1024
PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True)
class Broken:
    """`sentence` names file, line and column as far as they are known; never what stands there."""

    sentence: str


Document = dict[str, Any]


def read_document(path: str, *, directory: int | None = None, follow: bool = True) -> Document | Broken | None:
    """None: there is no such file. With `follow=False` a link is not read. `directory`: descriptor that path is in."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags, dir_fd=directory)
    except FileNotFoundError:
        # A link to nowhere is a file that was meant to be there.
        return Broken(f"{path} is a link to a file that is not there.") if _is_link(path, directory) else None
    except OSError as error:
        return Broken(f"{path} cannot be read ({'it is a link' if _is_link(path, directory) else error.strerror}).")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return Broken(f"{path} is not a regular file.")
    with os.fdopen(descriptor, "rb") as file:
        try:
            content = file.read(LARGEST_FILE + 1)
        except OSError as error:
            return Broken(f"{path} cannot be read ({error.strerror}).")
    if len(content) > LARGEST_FILE:
        return Broken(f"{path} is larger than 1 MiB, which no configuration is.")
    return parse(content, path)


def parse(content: bytes, path: str) -> Document | Broken:
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return Broken(f"{path}, line {line}: this is not UTF-8 text.")
    except tomllib.TOMLDecodeError as error:
        return Broken(_syntax(str(error), path))
    except RecursionError:
        return Broken(f"{path} is nested too deeply.")


def _syntax(message: str, path: str) -> str:
    place = PLACE.search(message)
    reason = PLACE.sub("", message)
    if not reason.startswith("Expected "):
        # The parser quotes what it met, and that may be a key; what it expected is its own word.
        reason = re.split(r":? ['\"]", reason, maxsplit=1)[0]
    if place is None:
        return f"{path}: {reason}."
    where = f"line {place[1]}, column {place[2]}" if place[1] else "at its end"
    return f"{path}, {where}: {reason}."


def _is_link(path: str, directory: int | None) -> bool:
    try:
        return stat.S_ISLNK(os.stat(path, dir_fd=directory, follow_symlinks=False).st_mode)
    except OSError:
        return False
