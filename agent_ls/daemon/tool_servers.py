"""Which servers of tools (MCP) a workspace has: the person's, and what came with its files.

Owns that a workspace's file is read when it has changed, not at each look. Does not own starting any (adapters.mcp).
"""

import logging
import os
from collections.abc import Sequence
from pathlib import Path

from agent_ls.config.mcp import WORKSPACE_FILE, Found, of_workspace
from agent_ls.config.settings import Settings
from agent_ls.core.tool_server import ToolServer

log = logging.getLogger(__name__)

State = tuple[int, int, int]


class ToolServers:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._read: dict[str, tuple[State, Found]] = {}

    def use(self, settings: Settings) -> None:
        self._settings = settings

    def of(self, root: str) -> Sequence[ToolServer]:
        """The person's own come first: a workspace cannot put another program behind a name of theirs."""
        own = self._settings.servers
        names = {server.name for server in own}
        return [*own, *(server for server in self._of_workspace(root) if server.name not in names)]

    def _of_workspace(self, root: str) -> Sequence[ToolServer]:
        state = _state(os.path.join(root, WORKSPACE_FILE))
        if state is None:
            self._read.pop(root, None)
            return ()
        known = self._read.get(root)
        if known is None or known[0] != state:
            found = of_workspace(Path(root))
            for warning in found.warnings:
                log.warning("%s", warning)
            self._read[root] = known = (state, found)
        return known[1].servers


def _state(path: str) -> State | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
