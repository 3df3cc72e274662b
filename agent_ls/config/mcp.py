"""Servers of tools (MCP): `[mcp.NAME]` of the person's file, `mcpServers` of a workspace's `.mcp.json`.

Owns what may be said of one. Does not own starting them. What came with a workspace is only a wish: each server of it
is started when a person has allowed exactly this definition.
"""

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from agent_ls.config import checks
from agent_ls.config.checks import Wrong, checks_of, setting
from agent_ls.core.tool_server import ToolServer

WORKSPACE_FILE: Final = ".mcp.json"
LARGEST_FILE: Final = 256 * 1024
MOST_SERVERS: Final = 32


@dataclass(frozen=True, kw_only=True)
class McpOptions:
    """`[mcp.NAME]` as written: a `command` to start, or the `url` of a server that runs."""

    command: tuple[str, ...] | None = setting(checks.argv)
    env: Mapping[str, str] | None = setting(checks.environment)
    url: str | None = setting(checks.url)
    headers: Mapping[str, str] | None = setting(checks.headers)
    timeout_s: float | None = setting(checks.seconds)
    enabled: bool | None = setting(checks.flag)


@dataclass(frozen=True)
class Found:
    """What a workspace's file names, and sentences about what in it cannot be used."""

    servers: tuple[ToolServer, ...] = ()
    warnings: tuple[str, ...] = ()


def server_of(name: str, options: McpOptions, origin: str) -> ToolServer | str | None:
    """None for one that is switched off; a sentence for one that says too little or too much."""
    if options.enabled is False:
        return None
    if (options.command is None) == (options.url is None):
        return f"`mcp.{name}` should have either a `command` or a `url`."
    return ToolServer(
        name=name,
        command=options.command or (),
        env=options.env or {},
        url=options.url,
        headers=options.headers or {},
        timeout_s=options.timeout_s or ToolServer.timeout_s,
        origin=origin,
    )


def of_workspace(root: Path) -> Found:
    """The servers that a workspace asks for. A link, a special file or one that makes no sense gives none."""
    path = root / WORKSPACE_FILE
    content = _content(path)
    if content is None:
        return Found()
    try:
        document = json.loads(content)
        servers = document.get("mcpServers", {}) if isinstance(document, dict) else None
    except (ValueError, RecursionError):
        servers = None
    if not isinstance(servers, dict):
        return Found(warnings=(f"{path} is not read: it should be JSON with a table `mcpServers`.",))
    taken: list[ToolServer] = []
    warnings: list[str] = []
    for name, entry in list(servers.items())[:MOST_SERVERS]:
        server = _asked_for(name, entry, str(path))
        if isinstance(server, ToolServer):
            taken.append(server)
        else:
            warnings.append(server)
    return Found(tuple(taken), tuple(warnings))


def _asked_for(name: str, entry: Any, origin: str) -> ToolServer | str:
    if isinstance(checks.name(name), Wrong) or not isinstance(entry, dict):
        return f"{origin}: one server is left out: its name should be letters, digits, `_`, `.` and `-`."
    argv = [entry["command"], *_listed(entry.get("args"))] if "command" in entry else None
    given = {"command": argv, "env": entry.get("env"), "url": entry.get("url"), "headers": entry.get("headers")}
    known = checks_of(McpOptions)
    checked = {each: known[each](value) for each, value in given.items() if value is not None}
    wrong = next((each for each, value in checked.items() if isinstance(value, Wrong)), None)
    if wrong is not None:
        return f"{origin}: `{name}` is left out: its `{wrong}` should be {checked[wrong].expected}."
    server = server_of(name, McpOptions(**checked), origin)
    if not isinstance(server, ToolServer):
        return f"{origin}: `{name}` is left out: it should have either a `command` or a `url`."
    return replace(server, from_workspace=True)


def _listed(args: Any) -> list[Any]:
    """What is no list is no argument either, and makes the command wrong."""
    return args if isinstance(args, list) else [] if args is None else [None]


def _content(path: Path) -> bytes | None:
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        content = file.read(LARGEST_FILE + 1)
    return content if len(content) <= LARGEST_FILE else None
