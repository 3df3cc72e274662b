"""glob: files by name, newest first.

Owns the tool's input and how rows read. What is passed over is search_walk's.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field

from agent_ls.adapters.tools.arguments import Arguments, parse, schema_of
from agent_ls.adapters.tools.file_input import digest_of, failed, moved, shown
from agent_ls.adapters.tools.search import ROWS, Search, Searcher, counted, locate, named, notes, reads
from agent_ls.core.globs import regex_of, split
from agent_ls.core.items import Call, ItemKind, ResultStatus, ToolResult
from agent_ls.core.messages import ToolSpec
from agent_ls.ports.files import Files, Place
from agent_ls.ports.tools import Invalid, Outcome, Prepared, Replay, ToolContext, ToolEffect

_DESCRIPTION: Final = (
    f"Finds files by name, newest first, up to {ROWS}: `**/*.py`, `src/**/test_*.{{ts,tsx}}`, `*.md` (in all folders). "
    "Leaves out what git ignores, and hidden files unless the pattern names them. Does not follow links."
)


class GlobInput(Arguments):
    pattern: str = Field(min_length=1, max_length=1000, description="Relative to path")
    path: str | None = Field(default=None, description="Folder to look in; the workspace if left out")


class GlobTool:
    name = "glob"
    kind = ItemKind.TOOL_CALL
    effect = ToolEffect.READ
    replay = Replay.SAFE

    def __init__(self, files: Files, searcher: Searcher) -> None:
        self._files = files
        self._searcher = searcher
        self._spec = ToolSpec(self.name, _DESCRIPTION, schema_of(GlobInput))

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        search = await self._search(arguments, context)
        if isinstance(search, Invalid):
            return search
        place, where = search.place, shown(search.place.path, context.root)
        return Prepared(
            tool=self.name,
            input=dict(arguments),
            effect=self.effect,
            title=f"Find {search.pattern}" + ("" if place.path == context.root else f" in {where}"),
            digest=digest_of(tool=self.name, uri=place.uri, pattern=search.pattern),
            card={"type": "other", "tool": self.name, "uri": place.uri, "path": where},
            reads=reads(place),
            uri=place.uri,
            apart=True,
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        search = await self._search(prepared.input, context)
        if isinstance(search, Invalid):
            return failed(search.message)
        if elsewhere := moved(prepared, search.place):
            return failed(elsewhere)
        found = await self._searcher.run(search, context)
        return failed(found) if isinstance(found, str) else _shown(found, search.place, context)

    async def recover(self, call: Call, context: ToolContext) -> Outcome:
        """It changes nothing: it is run again."""
        return Outcome(None)

    async def _search(self, arguments: Mapping[str, Any], context: ToolContext) -> Search | Invalid:
        given = parse(GlobInput, arguments)
        if isinstance(given, Invalid):
            return given
        path, pattern = given.path, given.pattern
        if pattern.startswith(("/", "~/", "../")):
            # Such a pattern says itself where to look.
            begin, pattern = split(pattern)
            path = f"{path}/{begin}" if path and begin.startswith("..") else begin
        if not pattern or regex_of(pattern) is None:
            return Invalid(f"`{given.pattern}` is not a pattern for files, such as `**/*.py`")
        place = await locate(self._files, path, context, folder=True)
        return place if isinstance(place, Invalid) else Search("glob", place, pattern, {})


def _shown(found: dict[str, Any], place: Place, context: ToolContext) -> ToolResult:
    lines = [named(place, path, context.root) for path in found["rows"]]
    said = notes(found, narrower=f"{counted(found['total'])} fit, make pattern or path narrower")
    if not lines:
        lines = [f"No file of {counted(found['seen'])} fits."]
    return ToolResult(status=ResultStatus.OK, output="\n".join([*lines, *(f"[{note}]" for note in said)]) + "\n")
