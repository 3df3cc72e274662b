"""A server of tools that speaks MCP, as somebody defined it, and what its tools are called here.

Owns what identifies a definition and which names a model may be given. Does not own starting one (adapters.mcp) nor
where definitions are written down (config.mcp).
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from agent_ls.core.digests import digest_of

PREFIX: Final = "mcp__"
LONGEST_NAME: Final = 64
_NOT_PLAIN: Final = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, kw_only=True)
class ToolServer:
    """Started with `command`, or reached at `url`. `env` and `headers` may hold keys and are never shown.

    `from_workspace`: it came with the files of a workspace, so a person has to allow it before it is started.
    """

    name: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_s: float = 120.0
    origin: str = ""
    from_workspace: bool = False

    @property
    def digest(self) -> str:
        """Of everything that decides what is started or reached."""
        env, headers = dict(self.env), dict(self.headers)
        return digest_of(name=self.name, command=self.command, env=env, url=self.url, headers=headers)

    @property
    def shown(self) -> str:
        """The command line or the address, as a person is shown it."""
        return self.url if self.url is not None else " ".join(map(_quoted, self.command))


def tool_name(server: str, tool: str) -> str:
    """`mcp__server__tool`, with the characters and the length that every model's server takes.

    What had to be changed ends in a piece of its hash, so that two tools never get one name.
    """
    wished = f"{PREFIX}{server}__{tool}"
    plain = _NOT_PLAIN.sub("_", wished)
    if plain == wished and len(plain) <= LONGEST_NAME:
        return plain
    mark = hashlib.sha256(wished.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain[: LONGEST_NAME - len(mark) - 1]}_{mark}"


def _quoted(word: str) -> str:
    return word if word and re.fullmatch(r"[A-Za-z0-9_@%+=:,./-]+", word) else json.dumps(word, ensure_ascii=False)
