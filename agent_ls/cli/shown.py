"""Digests of the requests that this person was shown last, kept in the state directory, as numbers count there.

Owns that small file, so that `approve N` binds to what `pending` or `show` printed. Losing it costs nothing but another
look. Its reader trusts nothing in it: the daemon compares the digest.
"""

import json
import os
from typing import Any

from agent_ls import paths

_NAME = "shown.json"
_KEPT = 500


def remember(requests: list[dict[str, Any]]) -> None:
    """As well as can be: where it cannot be written, `approve` shows the card again and asks."""
    known = _read()
    known.update({str(request["number"]): str(request["digest"]) for request in requests})
    newest = dict(sorted(known.items(), key=lambda entry: int(entry[0]))[-_KEPT:])
    path = _path()
    try:
        paths.private_directory(os.path.dirname(path))
        beside = f"{path}.{os.getpid()}"
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(newest, file)
        os.replace(beside, path)
    except (OSError, paths.UnsafePath):
        return


def digest(number: int) -> str | None:
    return _read().get(str(number))


def _path() -> str:
    return os.path.join(paths.state_dir(), _NAME)


def _read() -> dict[str, str]:
    try:
        with open(_path(), encoding="utf-8") as file:
            known = json.load(file)
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {number: held for number, held in known.items() if number.isdecimal() and isinstance(held, str)}
