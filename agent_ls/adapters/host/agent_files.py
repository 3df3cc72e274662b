"""Agents that stand as files in folders of this machine.

Owns which files are looked at and that none of them can hurt (no links out, no large ones, not too many). What such a
file says is core.agents'. Blocking: an event loop calls it in a thread.
"""

import logging
import os
import stat
from collections.abc import Sequence
from typing import Final

from agent_ls.core.agents import Agent, parse

log = logging.getLogger(__name__)

LARGEST: Final = 64 * 1024
MOST: Final = 100

Key = tuple[str, int, int]


class AgentFiles:
    """Each version of a file is read once, and what is wrong with it is said once."""

    def __init__(self) -> None:
        self._read: dict[Key, Agent | str] = {}

    def agents(self, folders: Sequence[str]) -> dict[str, Agent]:
        """By name; a folder that comes first wins."""
        found: dict[str, Agent] = {}
        seen: dict[Key, Agent | str] = {}
        for folder in folders:
            for path in _files(folder):
                key = _key(path)
                if key is None:
                    continue
                agent = seen[key] = self._read.get(key) or self._look(path)
                if isinstance(agent, Agent):
                    found.setdefault(agent.name, agent)
        self._read = seen
        return found

    def _look(self, path: str) -> Agent | str:
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
            with open(os.open(path, flags), encoding="utf-8") as file:
                agent = parse(file.read(LARGEST), path)
        except (OSError, ValueError) as error:
            agent = f"{path} cannot be read ({type(error).__name__})."
        if isinstance(agent, str):
            log.warning("%s", agent)
        return agent


def _files(folder: str) -> list[str]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".md") and not name.startswith("."))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names[:MOST]]


def _key(path: str) -> Key | None:
    try:
        known = os.lstat(path)
    except OSError:
        return None
    plain = stat.S_ISREG(known.st_mode) and known.st_size <= LARGEST
    return (path, known.st_mtime_ns, known.st_size) if plain else None
