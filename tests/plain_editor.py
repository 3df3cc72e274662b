"""An editor that speaks LSP and nothing of ours: no options, no `agent/*`, only what its own commands can do.

Owns what a person sees and does there: diagnostics, code actions, hover. Everything that the daemon says to it is read
with the types of lsprotocol, which are made from the specification.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import PIPE
from typing import Any

from anyio.streams.stapled import StapledByteStream
from lsprotocol import converters, types

from agent_ls.testing.buffers import Answer, Buffers
from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.home import Home

Json = dict[str, Any]

CAPABILITIES: Json = {
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
    "window": {"showDocument": {"support": True}, "showMessage": {}},
    "textDocument": {
        "publishDiagnostics": {"dataSupport": True},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "codeAction": {
            "dataSupport": True,
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix"]}},
        },
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
    },
}

_READ = converters.get_converter()


class PlainEditor:
    """`shown` are the documents that it was told to show, `prompted` the questions that it was asked, `refreshed` what
    it was told to ask for anew. `prompt` answers questions; without it one fails the test."""

    def __init__(self, link: Editor) -> None:
        self.link = link
        self.buffers = Buffers()
        self.shown: list[types.ShowDocumentParams] = []
        self.prompted: list[types.ShowMessageRequestParams] = []
        self.refreshed: list[str] = []
        self.prompt: Callable[[types.ShowMessageRequestParams], Answer] | None = None
        link.answer = self._answer

    async def initialize(self, *folders: Path, capabilities: Json | None = None, **options: Any) -> Json:
        params: Json = {
            "processId": None,
            "clientInfo": {"name": self.link.name, "version": "25.07"},
            "rootUri": folders[0].as_uri() if folders else None,
            "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name} for folder in folders],
            "capabilities": CAPABILITIES if capabilities is None else capabilities,
            **options,
        }
        answer: Json = await self.link.request("initialize", params)
        _READ.structure({"jsonrpc": "2.0", "id": 1, "result": answer}, types.InitializeResponse)
        await self.link.notify("initialized", {})
        return answer

    async def open(self, path: Path, text: str | None = None) -> None:
        await self.link.notify("textDocument/didOpen", self.buffers.open(path, text))

    async def type(self, path: Path, text: str, at: int | None = None, *, over: int = 0) -> None:
        await self.link.notify("textDocument/didChange", self.buffers.type(path, text, at, over=over))

    async def close(self, path: Path) -> None:
        await self.link.notify("textDocument/didClose", self.buffers.close(path))

    @property
    def diagnostics(self) -> dict[str, list[types.Diagnostic]]:
        """What stands where now, by URI, without what was taken back."""
        found: dict[str, list[types.Diagnostic]] = {}
        for method, params in self.link.notices:
            if method == "textDocument/publishDiagnostics":
                told = _READ.structure(params, types.PublishDiagnosticsParams)
                found[told.uri] = list(told.diagnostics)
        return {uri: here for uri, here in found.items() if here}

    async def until_marked(self, *paths: Path, count: int = 1) -> list[types.Diagnostic]:
        """Until these files, and no others, have so many diagnostics each; those of the first."""
        uris = {path.as_uri() for path in paths}
        await self.link.wait_for(lambda: {u for u, here in self.diagnostics.items() if len(here) == count} == uris)
        return self.diagnostics[paths[0].as_uri()] if paths else []

    async def actions(
        self, path: Path, line: int, *, span: Json | None = None, uri: str | None = None, **context: Any
    ) -> list[types.CodeAction | types.Command]:
        """On the line, as an editor asks: with its diagnostics that stand there. Of a conversation's documents all, of
        other files only fixes, unless others are asked for."""
        if path.parent.name != "conversations":
            context = {"only": ["quickfix"], **context}
        here = [d for d in self.diagnostics.get(path.as_uri(), []) if d.range.start.line == line]
        params = {
            "textDocument": {"uri": uri or path.as_uri()},
            "range": span or {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 1}},
            "context": {"diagnostics": _READ.unstructure(here), **context},
        }
        answer = await self.link.request("textDocument/codeAction", params)
        return [_READ.structure(given, _kind_of(given)) for given in answer]

    async def action(self, path: Path, line: int, title: str, *, uri: str | None = None) -> types.CodeAction:
        found = [action for action in await self.actions(path, line, uri=uri) if action.title == title]
        assert len(found) == 1, f"no single code action {title!r}"
        assert isinstance(found[0], types.CodeAction)
        return found[0]

    async def run(self, action: types.CodeAction, **changed: Any) -> Any:
        """Executes the action's command once, with some of its argument changed. Raises Refused."""
        assert action.command is not None
        (argument,) = action.command.arguments or [{}]
        params = {"command": action.command.command, "arguments": [{**argument, **changed}]}
        return await self.link.request("workspace/executeCommand", params)

    async def choose(self, path: Path, line: int, title: str, *, uri: str | None = None) -> Any:
        """The person chooses a code action, and again while it is said to be too soon for that."""
        action = await self.action(path, line, title, uri=uri)
        while True:
            try:
                return await self.run(action)
            except Refused as refused:
                if refused.code != "too_soon":
                    raise

    async def offered(self, path: Path, line: int = 0) -> list[str]:
        """Titles of all that can be done there, of any kind."""
        return [action.title for action in await self.actions(path, line)]

    async def asked(self, method: str, path: Path, shape: Any, **more: Any) -> Any:
        """The answer to a request about a document, read as the specification has it."""
        params = {"textDocument": {"uri": path.as_uri()}, **more}
        answer = await self.link.request(method, params)
        return _READ.structure({"jsonrpc": "2.0", "id": 1, "result": answer}, shape).result

    async def hover(self, path: Path, line: int) -> str | None:
        params = {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": 0}}
        answer = await self.link.request("textDocument/hover", params)
        told = _READ.structure({"jsonrpc": "2.0", "id": 1, "result": answer}, types.HoverResponse).result
        if told is None:
            return None
        assert isinstance(told.contents, types.MarkupContent)
        return told.contents.value

    def heard(self, method: str) -> list[Json]:
        return [params for name, params in self.link.notices if name == method]

    def _answer(self, method: str, params: Json) -> Answer:
        if method == "window/showMessageRequest":
            assert self.prompt is not None, "a prompt that takes the keyboard"
            self.prompted.append(_READ.structure(params, types.ShowMessageRequestParams))
            return self.prompt(self.prompted[-1])
        if method == "window/workDoneProgress/create" or method.endswith("/refresh"):
            self.refreshed += [method] if method.endswith("/refresh") else []
            return Answer({"result": None})
        if method == "window/showDocument":
            self.shown.append(_READ.structure(params, types.ShowDocumentParams))
            return Answer({"result": {"success": True}})
        return self.buffers.answer(method, params)


@asynccontextmanager
async def plain_editor(
    home: Home, *folders: Path, name: str = "helix", capabilities: Json | None = None, **options: Any
) -> AsyncIterator[PlainEditor]:
    """Its language server is `agent-ls connect`."""
    async with home.process("connect", stdin=PIPE, stdout=PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        editor = PlainEditor(Editor(StapledByteStream(process.stdin, process.stdout), name=name, process=process))
        await editor.initialize(*(folders or (home.workspace,)), capabilities=capabilities, **options)
        yield editor


def _kind_of(given: Json) -> type[types.CodeAction | types.Command]:
    """The library tells the two apart by the name `command` alone, which both have."""
    return types.Command if isinstance(given.get("command"), str) else types.CodeAction
