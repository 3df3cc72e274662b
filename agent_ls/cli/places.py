"""Folders as the protocol names them and as a person reads them, and fresh ids for commands.

Owns the way between paths and file URIs for the command line. Canonical keys of files are the daemon's business.
"""

import os
from urllib.parse import quote, unquote, urlsplit


def here() -> str | None:
    """The current folder; None where it has been removed."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None


def path_uri(path: str) -> str:
    return "file://" + quote(os.path.realpath(path))


def uri_path(uri: str) -> str:
    """The path of a file URI, anything else unchanged."""
    return unquote(urlsplit(uri).path) if uri.startswith("file:") else uri


def short_path(path: str) -> str:
    """With `~` for the home folder; relative where it lies in the current one."""
    if not os.path.isabs(path):
        return path
    current, home = here(), os.path.expanduser("~")
    if current is not None and path.startswith(current + os.sep):
        return os.path.relpath(path, current)
    return "~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path


def command_id() -> str:
    """Fresh for each command of the person; a repetition by the client sends the same one."""
    return "cli-" + os.urandom(16).hex()
