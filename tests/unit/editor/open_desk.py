"""Files of the tools behind windows that keep real buffers, in one process.

Owns a window whose answers come from agent_ls.testing.buffers. What goes over a socket is tests/e2e's.
"""

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from agent_ls.adapters.host import canonical
from agent_ls.adapters.host.files import DiskFiles
from agent_ls.adapters.host.marks import FileMarks
from agent_ls.core.textfile import sha256
from agent_ls.editor import opening
from agent_ls.editor.book import CLOSED, Answered, Outcome, Unanswered
from agent_ls.editor.documents import SAVES, Documents, Overlay
from agent_ls.editor.through import Patience
from agent_ls.editor.window_files import WindowFiles
from agent_ls.ports.files import Content, Refused, Replaced
from agent_ls.testing.buffers import Buffers

LIMIT = 1 << 20
_NUMBERS = count(1)


class LocalWindow:
    """Sends what its buffers do straight to the documents."""

    def __init__(self, documents: Documents, client: str, *, encoding: str, saves: bool, late: bool) -> None:
        self.number = next(_NUMBERS)
        self.client = client
        self.encoding = encoding
        self.features = frozenset({SAVES} if saves else ())
        self.buffers = Buffers(encoding, late=late)
        self.documents = documents
        self.gone = False

    async def request(self, method: str, params: Mapping[str, Any], timeout: float = 1) -> Outcome:
        if self.gone:
            return CLOSED
        answer = self.buffers.answer(method, dict(params))
        if answer.leaves:
            self.leave()
            return CLOSED
        for notice in [*answer.before, *answer.after]:
            self.tell(*notice)
        if answer.reply is None:
            return Unanswered("timeout", f"The window did not answer within {timeout:g} s.")
        if "error" in answer.reply:
            return Unanswered("error", answer.reply["error"]["message"])
        return Answered(answer.reply["result"])

    def tell(self, method: str, params: Mapping[str, Any]) -> Overlay | None:
        documents = self.documents
        match method:
            case "textDocument/didChange":
                return documents.change(self, params)
            case "textDocument/didSave":
                documents.save(self, params)
            case "textDocument/didClose":
                documents.close(self, params)
        return None

    def types(self, path: Path, text: str, at: int | None = None) -> None:
        self.tell("textDocument/didChange", self.buffers.type(path, text, at))

    def saves_it(self, path: Path) -> None:
        self.tell("textDocument/didSave", self.buffers.save(path))

    def closes(self, path: Path) -> None:
        self.tell("textDocument/didClose", self.buffers.close(path))

    def leave(self) -> None:
        self.gone = True
        self.documents.leave(self)


class OpenDesk:
    """`quiet_s`: how long ago the disk says that its files were changed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.quiet_s = 0.0
        self.disk = DiskFiles()
        self.documents = Documents(canonical.key_of)
        self.files = self.restarted()

    def restarted(self) -> WindowFiles:
        """As a successor has it: the marks, and nothing else."""
        patience = Patience(edit_s=0.05, verify_s=0.05, save_s=0.05)
        return WindowFiles(self.disk, self.documents, FileMarks(str(self.root)), patience=patience)

    def window(
        self, client: str = "vim", *, encoding: str = "utf-16", saves: bool = True, late: bool = False
    ) -> LocalWindow:
        return LocalWindow(self.documents, client, encoding=encoding, saves=saves, late=late)

    def file(self, name: str, data: bytes) -> Path:
        path = self.root / name
        path.write_bytes(data)
        return path

    async def open(self, window: LocalWindow, path: Path, text: str | None = None) -> Overlay:
        overlay = self.documents.open(window, window.buffers.open(path, text))
        assert overlay is not None
        await opening.settle(overlay, self.disk, lambda _: self.quiet_s)
        return overlay

    async def read(self, path: Path) -> tuple[bytes, str | None]:
        content = await self.files.read(str(path), LIMIT)
        assert isinstance(content, Content), content
        assert content.digest == sha256(content.data)
        return content.data, content.note

    async def edit(self, path: Path, old: str, new: str, *, token: str = "c1.r1.i") -> Replaced | Refused:
        """As the edit tool does it: what was read, with one place replaced."""
        content = await self.files.read(str(path), LIMIT)
        if isinstance(content, Refused):
            return content
        data = content.data.replace(old.encode(), new.encode())
        assert data != content.data
        return await self.files.replace(str(path), data, expected=content.digest, token=token)
