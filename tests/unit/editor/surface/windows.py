"""Windows, requests and a clock for the surface, in memory."""

from collections.abc import Mapping
from itertools import count
from typing import Any

from agent_ls.core.display import one_line
from agent_ls.core.request import Decision, Option, Request, RequestKind, RequestStatus
from agent_ls.core.text import UTF_16
from agent_ls.editor.book import CLOSED, Outcome
from agent_ls.editor.documents import Documents
from agent_ls.editor.surface import diagnostics
from agent_ls.editor.surface.board import Board

ROOT = "file:///w"
ABLE = {"textDocument": {"publishDiagnostics": {}, "codeAction": {"codeActionLiteralSupport": {}}}}
_NUMBERS = count(1)


class FakeWindow:
    """`shown` is what its client shows now: by URI, the numbers of requests and their line."""

    def __init__(self, client: str = "helix", *, folder: str = ROOT, features: tuple[str, ...] = ()) -> None:
        self.number = next(_NUMBERS)
        self.client = client
        self.features = frozenset(features)
        self.capabilities: Mapping[str, Any] = ABLE
        self.encoding = UTF_16
        self.folder = folder
        self.sent: list[dict[str, Any]] = []

    def sees(self, workspace: str) -> bool:
        return workspace == self.folder

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        assert method == "textDocument/publishDiagnostics"
        self.sent.append(dict(params))

    async def request(self, method: str, params: Mapping[str, Any], timeout: float = 1) -> Outcome:
        return CLOSED

    @property
    def shown(self) -> dict[str, list[tuple[str, int]]]:
        found = {
            said["uri"]: [(d["message"].split(" ")[0], d["range"]["start"]["line"]) for d in said["diagnostics"]]
            for said in self.sent
        }
        return {uri: here for uri, here in found.items() if here}


class Scene:
    """A board with its documents; `now` is its clock."""

    def __init__(self) -> None:
        self.now = 100.0
        self.documents = Documents(lambda uri: uri.replace("/link/", "/w/"))
        self.board = Board(self.documents, lambda: self.now, diagnostics.draw)

    def open(self, window: FakeWindow, uri: str, text: str = "one\ntwo\nthree\n") -> None:
        document = {"uri": uri, "languageId": "text", "version": 1, "text": text}
        self.board.opening(window, uri)
        self.documents.open(window, {"textDocument": document})
        self.board.opened(window, uri)

    def close(self, window: FakeWindow, uri: str) -> None:
        self.documents.close(window, {"textDocument": {"uri": uri}})
        self.board.closed(window, uri)

    def show(self, *windows: FakeWindow, pending: list[Request]) -> None:
        for window in windows:
            self.board.show(window, [(request, ROOT) for request in pending if window.sees(ROOT)])


def command(number: int, line: str = "make", **changed: Any) -> Request:
    card = {"type": "command", "command": line, "cwd": "/w", "timeout": 60, "environment": {}}
    return _request(number, **{"title": f"$ {one_line(line)}", "card": card, **changed})


def edit(number: int, uri: str = f"{ROOT}/a.txt", *, diff: str = "@@ -2 +2 @@\n-two\n+2\n", **changed: Any) -> Request:
    card = {"type": "edit", "uri": uri, "path": "a.txt", "diff": diff, "before": "one\ntwo\n", "after": "one\n2\n"}
    return _request(number, **{"title": "Edit a.txt", "card": card, **changed})


def _request(number: int, **fields: Any) -> Request:
    allow = Option(id="allow_once", label="Allow once", decision=Decision.ALLOW, scope="once")
    deny = Option(id="deny", label="Deny", decision=Decision.DENY)
    given = {
        "kind": RequestKind.APPROVAL,
        "options": (allow, deny),
        "digest": f"d{number}",
        "conversation_id": "c1",
        **fields,
    }
    return Request(
        id=f"c1.r1.q{number}", number=number, run_id="c1.r1", item_id="i", status=RequestStatus.PENDING,
        created_at="2026-01-01T00:00:00.000Z", **given,
    )  # fmt: skip
