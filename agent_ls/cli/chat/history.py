"""Messages of before, kept in the state directory for the up key.

Owns that file: a JSON string a line, newest last, readable by this person only. Losing it costs nothing else.
"""

import json
import os
from typing import Final, TextIO

from agent_ls import paths

_NAME: Final = "chat-history"
KEPT: Final = 1000
_LONGEST: Final = 20_000


def load() -> list[str]:
    try:
        with open(_path(), encoding="utf-8") as file:
            lines = file.read().split("\n")
    except (OSError, ValueError):
        return []
    found = [text for line in lines if line and isinstance(text := _parsed(line), str)]
    if len(found) > 2 * KEPT:
        _rewrite(found[-KEPT:])
    return found[-KEPT:]


def add(text: str) -> None:
    """As well as can be: a message that cannot be kept is still sent."""
    if not text.strip() or len(text) > _LONGEST:
        return
    try:
        paths.private_directory(os.path.dirname(_path()))
        with _open(_path(), os.O_APPEND) as file:
            file.write(json.dumps(text) + "\n")
    except (OSError, paths.UnsafePath):
        return


def _rewrite(texts: list[str]) -> None:
    beside = f"{_path()}.{os.getpid()}"
    try:
        with _open(beside, os.O_TRUNC) as file:
            file.writelines(json.dumps(text) + "\n" for text in texts)
        os.replace(beside, _path())
    except OSError:
        return


def _open(path: str, flag: int) -> TextIO:
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | flag, 0o600), "w", encoding="utf-8")


def _parsed(line: str) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _path() -> str:
    return os.path.join(paths.state_dir(), _NAME)
