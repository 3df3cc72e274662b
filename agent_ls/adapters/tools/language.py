"""diagnostics, symbols and references: what the language servers of the person's editor say.

Owns the inputs of the three tools and how answers read. They are offered in workspaces of which a window says that it
can answer; what comes back is text of programs that nobody vouches for.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from pydantic import Field

from agent_ls.adapters.tools.arguments import Arguments, parse
from agent_ls.adapters.tools.base import OurTool, failed
from agent_ls.adapters.tools.file_input import refuse, shown
from agent_ls.core.digests import digest_of
from agent_ls.core.display import one_line
from agent_ls.core.items import ResultStatus, ToolResult
from agent_ls.core.uris import NotLocal, local_path
from agent_ls.ports.files import Files, Refused
from agent_ls.ports.language import Language, Remark, Unavailable
from agent_ls.ports.tools import Invalid, Prepared, Tool, ToolContext

ROWS: Final = 200
DEFINITIONS: Final = 5
SEVERITIES: Final = ("", "error", "warning", "information", "hint")
KINDS: Final = {
    2: "module", 3: "namespace", 5: "class", 6: "method", 7: "property", 8: "field", 9: "constructor", 10: "enum",
    11: "interface", 12: "function", 13: "variable", 14: "constant", 22: "enum member", 23: "struct", 26: "type",
}  # fmt: skip


class DiagnosticsInput(Arguments):
    path: str | None = Field(default=None, description="One file; the whole workspace if left out")


class NameInput(Arguments):
    query: str = Field(min_length=1, max_length=200, description="A name, or the beginning of one")


class _LanguageTool(OurTool, ABC):
    """`needs` is what a window has to offer for it."""

    nothing: ClassVar[str]
    needs: ClassVar[str] = "proxy"

    def __init__(self, language: Language, files: Files) -> None:
        super().__init__()
        self._language = language
        self._files = files

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        given = parse(self.input, arguments)
        if isinstance(given, Invalid):
            return given
        reads = await self._reads(given, context.root)
        if isinstance(reads, Invalid):
            return reads
        return Prepared(
            tool=self.name,
            input=dict(arguments),
            effect=self.effect,
            title=f"{self.name.capitalize()} of {one_line(self._about(given))}",
            digest=digest_of(tool=self.name, input=dict(arguments), reads=list(reads)),
            card={"type": "other", "tool": self.name},
            reads=reads,
            apart=True,
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        found = await self._ask(prepared, context.root)
        if isinstance(found, Unavailable):
            return failed(found.reason)
        rows = [one_line(row) for row in found[:ROWS]]
        if len(found) > ROWS:
            rows.append(f"[{len(found) - ROWS} more are not shown]")
        return ToolResult(status=ResultStatus.OK, output="\n".join(rows or [self.nothing]) + "\n")

    async def _reads(self, given: Any, root: str) -> tuple[str, ...] | Invalid:
        return (root.rstrip("/") + "/",)

    @abstractmethod
    def _about(self, given: Any) -> str: ...

    @abstractmethod
    async def _ask(self, prepared: Prepared, root: str) -> Sequence[str] | Unavailable: ...


class DiagnosticsTool(_LanguageTool):
    name = "diagnostics"
    description = (
        "Errors and warnings that the language servers of the person's editor report, for one file or for all that are "
        "open. Look after an edit. It is what they know just now: a file that no editor has open may be missing."
    )
    input = DiagnosticsInput
    nothing = "The language servers report nothing."
    needs = "diagnostics"

    def _about(self, given: DiagnosticsInput) -> str:
        return given.path or "the workspace"

    async def _reads(self, given: DiagnosticsInput, root: str) -> tuple[str, ...] | Invalid:
        if given.path is None:
            return await super()._reads(given, root)
        place = await self._files.locate(given.path, root)
        return refuse(place) if isinstance(place, Refused) else place.paths

    async def _ask(self, prepared: Prepared, root: str) -> Sequence[str] | Unavailable:
        path = prepared.reads[-1] if prepared.input.get("path") is not None else None
        found = await self._language.remarks(root, path)
        return found if isinstance(found, Unavailable) else [_row(remark, root) for remark in found]


class _NameTool(_LanguageTool):
    input = NameInput

    def _about(self, given: NameInput) -> str:
        return given.query

    async def _list(self, root: str, method: str, params: dict[str, Any]) -> list[dict[str, Any]] | Unavailable:
        """What is no object is left out: a program that nobody vouches for may answer anything."""
        found = await self._language.ask(root, method, params)
        if isinstance(found, Unavailable):
            return found
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


class SymbolsTool(_NameTool):
    name = "symbols"
    description = (
        "Where functions, classes and other names are defined, as the language servers of the person's editor know it. "
        "Gives `path:line: kind name`."
    )
    nothing = "The language servers know no such name."

    async def _ask(self, prepared: Prepared, root: str) -> Sequence[str] | Unavailable:
        found = await self._list(root, "workspace/symbol", {"query": prepared.input["query"]})
        if isinstance(found, Unavailable):
            return found
        return [_symbol(each, root) for each in found if _place(each.get("location"), root)]


class ReferencesTool(_NameTool):
    name = "references"
    description = (
        "Where a name is used, as the language servers of the person's editor know it: of each definition with exactly "
        "this name. Gives `path:line`."
    )
    nothing = "The language servers know no use of such a name."

    async def _ask(self, prepared: Prepared, root: str) -> Sequence[str] | Unavailable:
        query = prepared.input["query"]
        symbols = await self._list(root, "workspace/symbol", {"query": query})
        if isinstance(symbols, Unavailable):
            return symbols
        rows: dict[str, None] = {}
        for symbol in [each for each in symbols if each.get("name") == query][:DEFINITIONS]:
            location = symbol.get("location")
            if not isinstance(location, dict) or not isinstance(location.get("range"), dict):
                continue
            params = {
                "textDocument": {"uri": location.get("uri")},
                "position": location["range"].get("start"),
                "context": {"includeDeclaration": True},
            }
            found = await self._list(root, "textDocument/references", params)
            if isinstance(found, Unavailable):
                return found
            rows |= dict.fromkeys(place for each in found if (place := _place(each, root)))
        return list(rows)


class LanguageTools:
    """Implements ports.tools.ToolSource."""

    def __init__(self, language: Language, files: Files) -> None:
        self._language = language
        own = [kind(language, files) for kind in (DiagnosticsTool, SymbolsTool, ReferencesTool)]
        self._tools: dict[str, _LanguageTool] = {tool.name: tool for tool in own}

    async def open(self, root: str) -> None:
        pass

    def tools(self, root: str) -> Mapping[str, Tool]:
        return self._tools

    def offered(self, root: str) -> Sequence[Tool]:
        there = self._language.offers(root)
        return [tool for tool in self._tools.values() if tool.needs in there]

    def status(self) -> list[dict[str, Any]]:
        return []


def _row(remark: Remark, root: str) -> str:
    source = f" [{remark.source}]" if remark.source else ""
    where = f"{shown(remark.path, root)}:{remark.line}:{remark.column}"
    return f"{where}: {SEVERITIES[remark.severity]}: {remark.message}{source}"


def _symbol(symbol: Mapping[str, Any], root: str) -> str:
    kind = symbol.get("kind")
    inside = f" in {symbol['containerName']}" if symbol.get("containerName") else ""
    said = KINDS.get(kind, "symbol") if isinstance(kind, int) else "symbol"
    return f"{_place(symbol.get('location'), root)}: {said} {symbol.get('name', '')}{inside}"


def _place(location: Any, root: str) -> str | None:
    """`path:line`; None for what is no place in a file of this machine."""
    if not isinstance(location, dict) or not isinstance(location.get("uri"), str):
        return None
    path = local_path(location["uri"])
    if isinstance(path, NotLocal):
        return None
    place = location.get("range")
    start = place.get("start") if isinstance(place, dict) else None
    line = start.get("line") if isinstance(start, dict) else None
    return f"{shown(path, root)}:{line + 1 if isinstance(line, int) else 1}"
