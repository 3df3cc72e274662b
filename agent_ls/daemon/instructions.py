"""What a project and a person tell every agent: AGENTS.md (or CLAUDE.md), the nearest one first.

Owns the folders: that of the workspace and those above it within its repository, if the person trusts it, and last the
person's own, beside config.toml. Does not own the files (adapters.host.instruction_files) nor the prompt (core.prompt).
"""

import os
from collections.abc import Iterator, Sequence
from typing import Final

from agent_ls.adapters.host.instruction_files import InstructionFiles
from agent_ls.core.conversation import Conversation
from agent_ls.core.prompt import instructed
from agent_ls.core.uris import path_of

DEEPEST: Final = 16


class Instructions:
    def __init__(self, config: str) -> None:
        self._files = InstructionFiles()
        self._own = os.path.dirname(config)

    def of(self, conversation: Conversation) -> Sequence[str]:
        root = path_of(conversation.workspace)
        folders = list(_upwards(root)) if conversation.trusted and root.startswith("/") else []
        return [instructed(path, text) for path, text in self._files.read([*folders, self._own])]


def _upwards(root: str) -> Iterator[str]:
    """The root, and what is above it as far as its repository goes; above a folder of no repository nothing counts.

    Neither does a repository that somebody else has put around it, say in a folder where everybody may write.
    """
    folder, passed = os.path.realpath(root), list[str]()
    ours = {os.geteuid(), owner(folder)}
    for _ in range(DEEPEST):
        passed.append(folder)
        mark = os.path.join(folder, ".git")
        if os.path.lexists(mark):
            return iter(passed if {owner(folder), owner(mark)} <= ours else passed[:1])
        above = os.path.dirname(folder)
        if above == folder or owner(above) not in ours:
            break
        folder = above
    return iter(passed[:1])


def owner(path: str) -> int | None:
    """None where nothing can be seen of it."""
    try:
        return os.lstat(path).st_uid
    except OSError:
        return None
