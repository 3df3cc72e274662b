"""The disk and what windows have open, put together for tools and windows.

Owns what is wired to what here; compose passes it on.
"""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from agent_ls.adapters.host import canonical
from agent_ls.adapters.host.files import DiskFiles
from agent_ls.adapters.host.marks import FileMarks
from agent_ls.adapters.host.open_set import OpenSetFile
from agent_ls.adapters.host.system import seconds_since_change
from agent_ls.editor import opening
from agent_ls.editor.documents import Documents, Overlay
from agent_ls.editor.language import WindowLanguage
from agent_ls.editor.returning import Returning
from agent_ls.editor.window_files import WindowFiles


@dataclass(frozen=True)
class OpenFiles:
    """`files` are what tools work on; `documents`, `language` and `settle` what windows report to."""

    files: WindowFiles
    documents: Documents
    language: WindowLanguage
    settle: Callable[[Overlay], Awaitable[None]]


def open_files(spool: str) -> OpenFiles:
    returning = Returning(OpenSetFile(os.path.join(spool, "open-files")))
    disk, documents = DiskFiles(), Documents(canonical.key_of, returning)
    settle = partial(opening.settle, files=disk, seconds_since_change=seconds_since_change)
    language = WindowLanguage(documents.version_of)
    return OpenFiles(WindowFiles(disk, documents, FileMarks(spool)), documents, language, settle)
